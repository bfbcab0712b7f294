#include <tartan/core/task_group.h>

#include <string>

#include "core/fatal.h"
#include "core/group_state.h"
#include "core/root_registry.h"
#include "core/runtime_state.h"

namespace tartan::detail {

group_state::group_state(runtime_state& rt, std::source_location site) noexcept
    : rt_{rt}, site_{site}, members_{membership::of_group} {
  rt.objects_changed(1);
}

group_state::~group_state() { rt_.objects_changed(-1); }

void group_state::add(root& r) noexcept {
  if (members_.add(r)) r.cancel();
}

void group_state::take_back(root& r) noexcept {
  members_.remove(r, [](std::size_t) {});
}

void group_state::ended(root& r) noexcept {
  if (std::exception_ptr left = r.take_exception()) {
    const bool first = members_.with_size([&](std::size_t) {
      if (first_ != nullptr) return false;
      first_ = std::move(left);
      return true;
    });
    if (first) cancel();  // the group stays while r is one of its members
  }
  chain* const joiner = members_.remove(r, [&](std::size_t left) { return left == 0 ? std::exchange(joiner_, nullptr) : nullptr; });
  if (joiner != nullptr) joiner->complete();  // the group may be gone by now
}

void group_state::abandon() noexcept {
  while (root* const r = members_.take()) r->owner_ = nullptr;
}

bool group_state::join(chain& joiner) noexcept {
  if (&joiner.runtime() != &rt_) {  // as root::join
    fatal({"a task group of another runtime was joined, in ", color_text(joiner.where(), joiner.runtime().name_of(joiner.where())),
           ", by a coroutine that was spawned at ", place(joiner.site()), "; it was made at ", place(site_)});
  }
  return members_.with_size([&](std::size_t size) {
    if (size != 0 && joiner_ != nullptr) fatal({"a task group is joined by two coroutines at once; it was made at ", place(site_)});
    if (size != 0) joiner_ = &joiner;
    return size == 0;
  });
}

std::exception_ptr group_state::take_first() noexcept {
  return members_.with_size([&](std::size_t) { return std::exchange(first_, nullptr); });
}

std::size_t group_state::size() noexcept {
  return members_.with_size([](std::size_t size) { return size; });
}

group_state* open_group(runtime_state& rt, std::source_location site) { return new group_state{rt, site}; }

void close_group(group_state& group) noexcept {
  if (group.runtime().roots().dropping()) {
    group.abandon();
  } else if (const std::size_t left = group.size(); left != 0) {
    fatal({"a task group that was made at ", place(group.site()), " was destroyed with ", std::to_string(left),
           " coroutines in it; co_await its join() first"});
  }
  delete &group;
}

runtime_state& runtime_of(group_state& group) noexcept { return group.runtime(); }
std::source_location site_of(group_state& group) noexcept { return group.site(); }
void cancel_group(group_state& group) noexcept { group.cancel(); }
std::size_t size_of(group_state& group) noexcept { return group.size(); }
bool join_group(group_state& group, chain& joiner) noexcept { return group.join(joiner); }
std::exception_ptr take_first(group_state& group) noexcept { return group.take_first(); }

}  // namespace tartan::detail
