#include "core/sched/papers/serial_policy.h"

#include <algorithm>
#include <new>
#include <utility>

#include "core/sched/no_queue_memory.h"

namespace tartan::detail {

namespace {

constexpr unsigned events_per_turn = 64;

}  // namespace

void serial_policy::ring::push(pending p) {
  if (size() == slots_.size()) {
    std::vector<pending> bigger(std::max<std::size_t>(64, 2 * slots_.size()));
    for (std::size_t n = 0; begin_ != end_; ++n) bigger[n] = pop();
    end_ = slots_.size();
    begin_ = 0;
    slots_ = std::move(bigger);
  }
  slots_[end_++ & (slots_.size() - 1)] = p;
}

serial_policy::serial_policy(runtime_state& rt, const scheduler_choice& /*choice*/) : paper_policy{rt} {}

void serial_policy::push(pending p) noexcept {
  try {
    queue_.push(p);
  } catch (const std::bad_alloc&) {
    no_queue_memory(raw_color::make(p.color_value), *p.what);
  }
  size_.store(size_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

void serial_policy::push_select() noexcept {
  try {
    queue_.push({nullptr, 0});
  } catch (const std::bad_alloc&) {
    fatal({"out of memory for the event that polls"});
  }
}

void serial_policy::submit(color where, event& e, worker* from) noexcept {
  if (from != nullptr) {
    if (has_foreign()) take_foreign();  // one of them may have happened before this one
    push({&e, where.value()});
  } else {
    const std::lock_guard hold{lock_};
    try {
      foreign_.push_back({&e, where.value()});
    } catch (const std::bad_alloc&) {
      no_queue_memory(where, e);
    }
    foreign_count_.store(foreign_.size(), std::memory_order_release);  // pairs with has_foreign
  }
  if (!is_told(from)) life_.summon(0, from);
}

void serial_policy::take_foreign() noexcept {
  {
    const std::lock_guard hold{lock_};
    taken_.swap(foreign_);
    foreign_count_.store(0, std::memory_order_relaxed);
  }
  for (const pending& each : taken_) push(each);
  taken_.clear();
}

/// Once through what was there at its beginning, at most.
bool serial_policy::turn(worker& w) {
  if (has_foreign()) take_foreign();
  if (select_.wakes_up(w)) push_select();
  unsigned left = static_cast<unsigned>(std::min<std::size_t>(queue_.size(), events_per_turn));
  if (left == 0) return false;
  life_.found_work(w);
  for (; left != 0; --left) {
    const pending next = queue_.pop();
    if (next.what == nullptr) {
      const bool posted = select_task::look(life_, w);
      select_.looked(posted);
      if (posted) push_select();
      break;
    }
    size_.store(size_.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
    run_event(w, *next.what, next.color_value);
  }
  return true;
}

bool serial_policy::search(worker& w) {
  if (has_foreign() || !queue_.empty()) return true;
  return life_.look_before_rest(w);
}

work_seen serial_policy::sources(const worker& /*w*/) noexcept {
  return has_foreign() || !queue_.empty() ? work_seen::found : work_seen::none;
}

std::size_t serial_policy::drop_all() noexcept {
  std::size_t dropped = 0;
  while (any_left()) {  // what is destroyed may post
    take_foreign();
    for (std::size_t left = queue_.size(); left != 0; --left) {
      const pending next = queue_.pop();
      if (next.what == nullptr) {
        select_.looked(false);
        continue;
      }
      size_.store(size_.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
      dropped += destroy_left_event(rt_, *next.what);
    }
  }
  return dropped;
}

}  // namespace tartan::detail
