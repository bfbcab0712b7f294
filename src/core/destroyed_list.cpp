#include "core/destroyed_list.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <new>
#include <string_view>
#include <utility>

#include "core/fatal.h"
#include "core/runtime_state.h"

namespace tartan::detail {

namespace {

/// Places of one kind that a report names.
constexpr std::size_t most_shown = 3;

struct kind_words {
  std::string_view one;
  std::string_view several;
  std::string_view verb;
};
/// By work_kind.
constexpr std::array<kind_words, 5> words{{{"event", "events", "posted"},
                                           {"timer", "timers", "set"},
                                           {"operation", "operations", "begun"},
                                           {"coroutine", "coroutines", "spawned"},
                                           {"blocking job", "blocking jobs", "handed in"}}};

bool same_place(const std::source_location& a, const std::source_location& b) noexcept {
  return a.line() == b.line() && a.column() == b.column() && std::strcmp(a.file_name(), b.file_name()) == 0;
}

/// What one kind comes to, with its first places.
std::string text_of(work_kind kind, const std::vector<destroyed_work>& what) {
  const kind_words& word = words[static_cast<std::size_t>(kind)];
  std::size_t count = 0;
  std::size_t places = 0;
  std::size_t shown = 0;
  std::string listed;
  for (const destroyed_work& each : what) {
    if (each.kind != kind) continue;
    count += each.count;
    if (++places > most_shown || each.site.line() == 0) continue;
    shown += each.count;
    if (!listed.empty()) listed += "; ";
    listed += std::to_string(each.count) + ' ' + std::string{word.verb} + " at " + place(each.site);
    if (!each.waits_for.empty()) listed += ", waiting for " + each.waits_for;
  }
  if (count == 0) return {};
  if (shown < count) listed += (listed.empty() ? "" : "; ") + std::to_string(count - shown) + " elsewhere";
  return std::to_string(count) + ' ' + std::string{count == 1 ? word.one : word.several} + " (" + listed + ')';
}

}  // namespace

void destroyed_list::add(work_kind kind, std::source_location site, std::string waits_for) noexcept {
  const bool full = all_.size() >= most_places;
  const auto is_it = [&](const destroyed_work& each) {
    return each.kind == kind && same_place(each.site, site) && each.waits_for == waits_for;
  };
  auto found = std::find_if(all_.begin(), all_.end(), is_it);
  if (found == all_.end() && full) {
    site = {};
    waits_for.clear();
    found = std::find_if(all_.begin(), all_.end(), is_it);
  }
  if (found != all_.end()) {
    ++found->count;
    return;
  }
  try {
    all_.push_back({kind, 1, site, std::move(waits_for)});
  } catch (const std::bad_alloc&) {
  }
}

std::vector<destroyed_work> destroyed_list::take() noexcept {
  // Insertion sort: few entries, mostly in order, and no memory for a stable_sort may be left.
  for (std::size_t n = 1; n < all_.size(); ++n) {
    for (std::size_t at = n; at != 0 && all_[at].kind < all_[at - 1].kind; --at) std::swap(all_[at], all_[at - 1]);
  }
  return std::exchange(all_, {});
}

std::size_t destroy_left_event(runtime_state& rt, event& e) noexcept {
  const bool counts = e.ops->counted;
  if (counts) {
    const origin from = e.ops->from;
    rt.destroyed().add(from == origin::timer ? work_kind::timer : from == origin::io ? work_kind::operation : work_kind::event, e.site);
  }
  discard_event(rt, e);
  return counts ? 1 : 0;
}

std::string destroyed_text(const drained& outcome) {
  std::string text;
  for (const work_kind kind : {work_kind::event, work_kind::timer, work_kind::operation, work_kind::coroutine, work_kind::blocking_job}) {
    const std::string part = text_of(kind, outcome.what);
    if (part.empty()) continue;
    if (!text.empty()) text += ", ";
    text += part;
  }
  return text.empty() ? std::to_string(outcome.destroyed) + " events, timers, operations, coroutines or blocking jobs" : text;
}

}  // namespace tartan::detail
