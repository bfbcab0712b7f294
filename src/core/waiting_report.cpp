#include "core/waiting_report.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <tartan/core/branches.h>

#include "core/fatal.h"
#include "core/root_registry.h"
#include "core/runtime_state.h"

namespace tartan::detail {

namespace {

/// Lines that one report has.
constexpr std::size_t most_lines = 16;

/// What the branches wait for, in brackets; nothing if none waits.
std::string text_of(branches& several) {
  std::string text;
  for (branch& each : several.all()) {
    const std::string one = wait_text(each);
    if (!one.empty()) text += (text.empty() ? " (" : ", ") + one;
  }
  return text.empty() ? text : text + ')';
}

/// Coroutines that one line of a report tells of.
struct alike {
  waiting_coroutine first;
  std::size_t count = 0;
};

bool is_like(const waiting_coroutine& a, const waiting_coroutine& b) {
  const std::source_location& at = a.spawned_at;
  return at.line() == b.spawned_at.line() && at.column() == b.spawned_at.column() && a.waits_for == b.waits_for &&
         std::strcmp(at.file_name(), b.spawned_at.file_name()) == 0;
}

std::vector<alike> joined(const std::vector<waiting_coroutine>& all) {
  std::vector<alike> lines;
  for (const waiting_coroutine& each : all) {
    auto found = std::find_if(lines.begin(), lines.end(), [&](const alike& line) { return is_like(line.first, each); });
    if (found == lines.end()) found = lines.insert(lines.end(), {each, 0});
    ++found->count;
  }
  return lines;
}

}  // namespace

std::string wait_text(chain& waiter) {
  operation* const waits_in = waiter.waits_in();
  if (waits_in == nullptr) {
    switch (waiter.suspended_for()) {
      case suspension::none: return {};
      case suspension::blocking_job: return "a blocking job";
      case suspension::elsewhere: return "something outside of the runtime";
    }
  }
  std::string text = waits_in->name();
  if (const std::source_location about = waits_in->about(); about.line() != 0) text += " (" + place(about) + ')';
  if (branches* const several = waits_in->as_branches()) text += text_of(*several);
  return text;
}

std::vector<waiting_coroutine> waiting_in(runtime_state& rt) {
  std::vector<waiting_coroutine> all;
  rt.roots().for_each([&](root& each) {
    std::string text = wait_text(each);
    if (!text.empty()) all.push_back({each.site(), each.where(), {}, std::move(text)});
  });
  for (waiting_coroutine& each : all) each.name = rt.name_of(each.in);
  return all;
}

void report_waiting(runtime_state& rt) {
  const std::vector<alike> lines = joined(waiting_in(rt));
  for (std::size_t n = 0; n < lines.size() && n < most_lines; ++n) {
    const auto& [first, count] = lines[n];
    const std::string who = count == 1 ? "a coroutine waits" : std::to_string(count) + " coroutines wait";
    const std::string in = color_text(first.in, first.name);
    report({"run_until_idle() returns, but ", who, " for ", first.waits_for, "; spawned at ", place(first.spawned_at),
            count == 1 ? ", in " : ", the first in ", in});
  }
  if (lines.size() > most_lines) report({"run_until_idle() returns, but coroutines of ", std::to_string(lines.size() - most_lines), " more kinds wait"});
}

}  // namespace tartan::detail
