// One heap or wheel under one lock makes every worker that sets a timer wait for every other. A wheel per worker cures that, but a
// wheel that only its worker expires is stuck behind a long handler (trap 19), and two timers of one color, set from two workers,
// fire in any order. So: any worker may expire all wheels, one at a time does; it works time off up to a cut, takes what is before it
// out of every wheel, sorts it by deadline and sequence, and posts it. What is set meanwhile cannot lie before the cut.
#include "time/timing.h"

#include <algorithm>
#include <bit>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <thread>

#include "core/clock.h"
#include "core/fatal.h"
#include "core/guest.h"
#include "core/runtime_state.h"

namespace tartan::detail {

namespace {

constexpr std::uint64_t all_ticks = (latest_deadline_ns >> wheel::tick_bits) + 1;

/// More than a system's coarse clock is ever late.
constexpr std::uint64_t most_coarse_lag_ns = 1'000'000'000;

/// A poller of the user's has a clock of its own.
std::uint64_t coarse_now_ns(runtime_state& rt) noexcept {
  return rt.settings().poller == nullptr ? real_coarse_now_ns() : rt.now_ns();
}

std::uint64_t later(std::uint64_t a, std::uint64_t b) noexcept {
  return a > b ? a : b;
}

}  // namespace

/// The right to take nodes out of all wheels and to post them: one thread at a time has it.
class timing::baton {
 public:
  explicit baton(timing& all) noexcept : all_{all} {}
  baton(const baton&) = delete;
  baton& operator=(const baton&) = delete;
  ~baton() {
    if (held_) all_.passing_.store(false, std::memory_order_release);  // pairs with try_take
  }

  [[nodiscard]] bool try_take() noexcept {
    // acquire: pairs with the destructor's store
    held_ = !all_.passing_.load(std::memory_order_relaxed) && !all_.passing_.exchange(true, std::memory_order_acquire);
    return held_;
  }
  void take() noexcept {
    while (!try_take()) std::this_thread::yield();
  }

 private:
  timing& all_;
  bool held_ = false;
};

timing::timing(runtime_state& rt) : rt_{rt}, homes_(rt.workers() + 1), stripes_(std::bit_ceil(4u * rt.workers())) {}

timing& timing::armed_in(runtime_state& rt) noexcept {
  try {
    return of(rt);
  } catch (const std::bad_alloc&) {
    fatal({"out of memory for the timers of a runtime"});
  }
}

timing& timing::of(runtime_state& rt) {
  clockwork* plugged = rt.timers();
  if (plugged == nullptr) plugged = &rt.plug_in(std::make_unique<timing>(rt));
  return static_cast<timing&>(*plugged);
}

// Read-modify-writes of one word by happens-before-ordered callers grow with it, on whatever workers the color has been.
std::uint64_t timing::number(color c) noexcept {
  return stripes_[mix(c.value()) & (stripes_.size() - 1)].last.fetch_add(1, std::memory_order_relaxed);
}

bool timing::set(timer_node& node, std::uint64_t now_ns, std::uint64_t deadline_ns) noexcept {
  return insert(node, now_ns, deadline_ns) || post(node, true);  // outside of the gate, for it may be destroyed
}

/// False: the runtime stops, it is to be posted as canceled.
bool timing::insert(timer_node& node, std::uint64_t now_ns, std::uint64_t deadline_ns) noexcept {
  const unsigned here_is = rt_.this_worker();
  std::optional<guests::posting> in_gate;  // the timer may run, and its event let the runtime end, before this returns
  if (here_is == rt_.workers()) in_gate.emplace(rt_.guests());
  const bool own_color = here != nullptr && here->in_event && here_is != rt_.workers() && here->running == node.where;
  node.canceled_by_stop = false;
  node.links.sequence = number(node.where);
  node.links.home = static_cast<std::uint16_t>(here_is);
  home& mine = homes_[here_is];
  mine.gate.lock();
  // every-wait-ends: the gate orders the first after stop()'s sweep of this wheel; the second is for timers plugged in after it
  if (stopped_.load(std::memory_order_relaxed) || rt_.stopping()) {
    mine.gate.unlock();
    node.deadline_ns = deadline_ns;
    return false;
  }
  node.deadline_ns = later(deadline_ns, horizon_.passed());  // nothing-overtaken
  const std::uint64_t look_ns = mine.nodes.insert(node, now_ns >> wheel::tick_bits);
  mine.count.store(mine.nodes.size(), std::memory_order_release);  // pairs with pending
  if (mine.gate.lower(look_ns)) horizon_.lower(look_ns);
  mine.gate.unlock();
  // From here on the node may be gone: it may have been posted, and run.
  rt_.timer_set(look_ns, own_color);
  return true;
}

bool timing::cancel(timer_node& node) noexcept {
  home& its = homes_[node.links.home];
  const std::lock_guard inside{its.gate};
  if (!node.links.armed) return false;
  its.nodes.remove(node);
  its.count.store(its.nodes.size(), std::memory_order_release);  // pairs with pending
  return true;
}

bool timing::expire(std::uint64_t now_ns) noexcept {
  baton mine{*this};
  if (!mine.try_take()) {
    // Whoever has nothing else to do comes back at once: not in the way of a holder that was preempted.
    std::this_thread::yield();
    return false;
  }
  const std::uint64_t cut_ns = now_ns >> wheel::tick_bits << wheel::tick_bits;
  if (ready_.empty() && horizon_.open(cut_ns)) collect(cut_ns);
  const bool any = post_ready(posts_per_pass, false) != 0;
  if (!ready_.empty()) return any;  // next_ns() is still past: whoever looks next goes on
  const std::uint64_t missed_ns = horizon_.settle(homes_);
  if (missed_ns != never_ns) rt_.timer_set(missed_ns, false);
  return any;
}

std::size_t timing::pending() const noexcept {
  // Wheels first: a node is counted as ready before it is uncounted here. acquire: pairs with set, cancel and take_before
  std::size_t sum = 0;
  for (const home& each : homes_) sum += each.count.load(std::memory_order_acquire);
  return sum + ready_count_.load(std::memory_order_acquire);  // pairs with post_ready
}

void timing::stop() noexcept {
  baton mine{*this};
  mine.take();
  stopped_.store(true, std::memory_order_relaxed);  // every-wait-ends: published by each gate
  post_ready(ready_.size(), false);                 // these are due
  for (home& each : homes_) take_before(each, all_ticks);
  ready_.sort();
  post_ready(ready_.size(), true);
  (void)horizon_.settle(homes_);
}

std::size_t timing::drop_all() noexcept {
  baton mine{*this};
  mine.take();
  put_back_ready();
  std::size_t dropped = 0;
  // One by one and not under a lock: what is destroyed here may cancel or destroy other timers.
  for (home& each : homes_) {
    while (timer_node* const node = take_any(each)) {
      if (node->fired.ops->counted) {
        ++dropped;
        rt_.destroyed().add(work_kind::timer, node->fired.site);
      }
      node->fired.ops->drop(node->fired);
    }
  }
  (void)horizon_.settle(homes_);
  return dropped;
}

void timing::collect(std::uint64_t cut_ns) noexcept {
  for (home& each : homes_) {
    if (!each.gate.quiet(cut_ns)) take_before(each, cut_ns >> wheel::tick_bits);
  }
  ready_.sort();
}

void timing::take_before(home& from, std::uint64_t cut_tick) noexcept {
  for (unsigned ahead = 0; ahead < holds_ahead;) {
    const std::lock_guard inside{from.gate};
    const std::size_t before = from.nodes.size();
    const bool more_due = from.nodes.take_before(cut_tick, nodes_per_hold, ready_);
    if (from.nodes.size() != before) {
      ready_count_.store(ready_.size(), std::memory_order_release);    // pairs with pending
      from.count.store(from.nodes.size(), std::memory_order_release);  // the same
    }
    if (more_due) continue;
    // What is far ahead now will be due together: done in time, it delays nobody.
    const bool more_ahead = from.nodes.spread_ahead(nodes_per_hold);
    from.gate.settle(from.nodes.next_ns());
    if (!more_ahead) return;
    ++ahead;
  }
}

std::size_t timing::post_ready(std::size_t limit, bool canceled) noexcept {
  std::size_t posted = 0;
  for (; posted < limit && !ready_.empty(); ++posted) {
    (void)post(ready_.pop_front(), canceled);
    ready_count_.store(ready_.size(),
                       std::memory_order_release);  // after the post: it is an event now. pairs with pending
  }
  return posted;
}

/// False: refused and dropped. The node may be gone as soon as its event is posted.
bool timing::post(timer_node& node, bool canceled) noexcept {
  node.canceled_by_stop = canceled;
  return submit_completion(rt_, node.where, node.fired);
}

// Out of a wheel, a node counts as posted, and so could not be canceled by what drop_all() destroys.
void timing::put_back_ready() noexcept {
  home& shelf = homes_.back();
  while (!ready_.empty()) {
    timer_node& node = ready_.pop_front();
    const std::lock_guard inside{shelf.gate};
    node.links.home = static_cast<std::uint16_t>(homes_.size() - 1);
    (void)shelf.nodes.insert(node, 0);
    shelf.count.store(shelf.nodes.size(), std::memory_order_release);  // pairs with pending
  }
  ready_count_.store(0, std::memory_order_release);
}

timer_node* timing::take_any(home& from) noexcept {
  const std::lock_guard inside{from.gate};
  timer_node* const node = from.nodes.take_any();
  from.count.store(from.nodes.size(), std::memory_order_release);  // pairs with pending
  return node;
}

bool arm(runtime_state& rt, timer_node& node, std::uint64_t deadline_ns) noexcept {
  // The coarse clock is enough to see that a deadline is not past, and to place it in the wheel.
  std::uint64_t now_ns = coarse_now_ns(rt);
  if (deadline_ns <= now_ns + most_coarse_lag_ns) now_ns = rt.now_ns();
  const std::uint64_t counted = later(deadline_ns, now_ns);
  return timing::armed_in(rt).set(node, now_ns, counted < latest_deadline_ns ? counted : latest_deadline_ns);
}

bool arm_after(runtime_state& rt, timer_node& node, std::uint64_t after_ns) noexcept {
  const std::uint64_t now_ns = rt.now_ns();
  return timing::armed_in(rt).set(node, now_ns, saturated_deadline_ns(now_ns, after_ns));
}

bool disarm(runtime_state& rt, timer_node& node) noexcept {
  clockwork* const plugged = rt.timers();
  return plugged != nullptr && static_cast<timing*>(plugged)->cancel(node);
}

}  // namespace tartan::detail
