// Sleepers wait for a bell: one futex word for all, since whatever wakes one may have to make another jump. wake() must be safe in a
// signal handler, where a lock or a condition variable is not.
#include "io/sim/simulated_world.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>
#include <ctime>
#include <type_traits>

#include "core/clock.h"

namespace tartan {

namespace detail {

namespace {

using bell = real_memory::atomic<std::uint32_t>;
// The kernel's word is the atomic's only member.
static_assert(std::is_standard_layout_v<bell> && sizeof(bell) == sizeof(std::uint32_t));

std::uint64_t in_real_time(std::uint64_t from_now_ns) noexcept {
  const std::uint64_t now = real_now_ns();
  return from_now_ns < never_ns - now ? now + from_now_ns : never_ns;
}

}  // namespace

simulated_world::simulated_world(const simulation_options& with)
    : longest_job_ns_{static_cast<std::uint64_t>(with.longest_job.count())},
      chance_{~with.seed},  // not the network's
      network_{with, [this] { return now_ns(); }, [this] { ring(); }} {}

void simulated_world::attach(unsigned workers) {
  network_.forget_ledger();
  const std::lock_guard hold{lock_};
  sleepers_.assign(workers, {});
  sleepers_[0].sleeps = false;  // whoever calls run()
}

void simulated_world::starts(unsigned worker) noexcept {
  const std::lock_guard hold{lock_};
  sleepers_[worker].sleeps = false;
}

/// Those that sleep may be all that there are now.
void simulated_world::leaves(unsigned worker) noexcept {
  {
    const std::lock_guard hold{lock_};
    sleepers_[worker] = {};
    give_turn();
  }
  ring();
}

/// Lets all that sleep look again. Takes no lock: called from signal handlers, and from within the network by a foreign thread that has
/// made something due for which all workers sleep too long.
void simulated_world::ring() noexcept {
  rings_.fetch_add(1, std::memory_order_release);  // pairs with sleep
  const int errno_before = errno;                  // a signal handler's caller may be about to read it
  ::syscall(SYS_futex, &rings_, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, INT_MAX, nullptr, nullptr, 0);
  errno = errno_before;
}

/// Until there was a ring behind the one with this number; may return early for no reason.
void simulated_world::await_ring(std::uint32_t after, std::uint64_t end_ns) noexcept {
  constexpr std::uint64_t ns_per_s = 1'000'000'000;
  const timespec end{static_cast<std::time_t>(end_ns / ns_per_s), static_cast<long>(end_ns % ns_per_s)};
  ::syscall(SYS_futex, &rings_, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, after, end_ns == never_ns ? nullptr : &end, nullptr,
            FUTEX_BITSET_MATCH_ANY);
}

slept simulated_world::sleep(unsigned worker, wake_token& token, sleep_limit limit) noexcept {
  const std::uint64_t patience_ends_ns = limit.at_most_ns == never_ns ? never_ns : in_real_time(limit.at_most_ns);
  std::unique_lock hold{lock_};
  sleepers_[worker] = {&token, limit.until_ns, true};
  for (;;) {
    const std::uint32_t seen = rings_.load(std::memory_order_acquire);  // before the look; pairs with ring
    // acquire: pairs with the waker's claim
    if (token.load(std::memory_order_acquire) != token_asleep || now_ns() >= limit.until_ns || network_.next_ns() <= now_ns()) break;
    give_turn();
    const bool held = held_by_jobs();  // once: if that ended between two looks, nobody would jump, and nobody wake up to
    if (!held && jump()) continue;
    if (patience_ends_ns != never_ns && real_now_ns() >= patience_ends_ns) break;
    const std::uint64_t end_ns = held ? std::min(patience_ends_ns, jobs_hold_until_ns_) : patience_ends_ns;
    hold.unlock();
    await_ring(seen, end_ns);
    hold.lock();
  }
  sleepers_[worker].sleeps = false;
  return slept::alone;
}

void simulated_world::wake(unsigned /*worker*/, wake_token& /*token*/) noexcept { ring(); }

void simulated_world::count_jobs(int more) noexcept {
  {
    const std::lock_guard hold{lock_};
    jobs_ += static_cast<std::size_t>(more);
    jobs_hold_until_ns_ = in_real_time(longest_job_ns_);
    if (jobs_ == jobs_running_) {  // those that had not begun were dropped
      turn_is_free_ = false;
      turn_came_.notify_all();
    }
    give_turn();  // all may sleep: this one comes from elsewhere
  }
  if (more < 0) ring();
}

bool simulated_world::held_by_jobs() const noexcept { return jobs_ != 0 && real_now_ns() < jobs_hold_until_ns_; }

/// For the next job, if nothing else happens until it has run.
void simulated_world::give_turn() noexcept {
  if (turn_is_free_ || jobs_running_ != 0 || jobs_ == 0 || earliest_of_all_asleep() <= now_ns()) return;
  turn_is_free_ = true;
  turn_came_.notify_one();
}

bool simulated_world::await_job_turn() noexcept {
  std::unique_lock hold{lock_};
  while (!turn_is_free_) {
    if (jobs_ == jobs_running_) return false;
    const std::uint64_t now = real_now_ns();
    if (now >= jobs_hold_until_ns_) break;  // a job, or a worker, waits for this one
    turn_came_.wait_for(hold, std::chrono::nanoseconds{jobs_hold_until_ns_ - now});
  }
  turn_is_free_ = false;
  ++jobs_running_;
  jobs_hold_until_ns_ = in_real_time(longest_job_ns_);
  return true;
}

void simulated_world::end_job_turn() noexcept {
  const std::lock_guard hold{lock_};
  --jobs_running_;
  turn_came_.notify_all();  // to those for whom there is no job any more
  give_turn();
}

void simulated_world::draw(std::span<std::byte> into) noexcept {
  const std::lock_guard hold{lock_};
  for (std::byte& each : into) each = static_cast<std::byte>(chance_());
}

/// The earliest time that anybody waits for; 0 if not all sleep.
std::uint64_t simulated_world::earliest_of_all_asleep() noexcept {
  std::uint64_t earliest = network_.next_ns();
  for (const sleeper& each : sleepers_) {
    // acquire: pairs with a claim; a token that was changed is a worker's that will be awake in a moment
    if (!each.sleeps || (each.token != nullptr && each.token->load(std::memory_order_acquire) != token_asleep)) return 0;
    earliest = std::min(earliest, each.until_ns);
  }
  return earliest;
}

/// To the earliest time that anybody waits for, if all sleep. No job holds it.
bool simulated_world::jump() noexcept {
  const std::uint64_t earliest = earliest_of_all_asleep();
  if (earliest == never_ns || earliest <= now_ns()) return false;
  now_ns_.store(earliest, std::memory_order_release);  // pairs with now_ns()
  ring();
  return true;
}

void simulated_world::deliver(unsigned worker) noexcept { static_cast<void>(harvest(worker)); }

bool simulated_world::harvest(unsigned worker) noexcept {
  {
    const std::lock_guard hold{lock_};
    sleepers_[worker].sleeps = false;
  }
  return network_.next_ns() <= now_ns() && network_.report();
}

}  // namespace detail

simulation::simulation(const simulation_options& with) : world_{std::make_unique<detail::simulated_world>(with)} {}
simulation::~simulation() = default;

detail::poller* simulation::poller() noexcept { return world_.get(); }

std::chrono::nanoseconds simulation::elapsed() noexcept {
  return std::chrono::nanoseconds{world_->now_ns() - detail::simulated_world::start_ns};
}

std::size_t simulation::descriptors() noexcept { return world_->network().size(); }

}  // namespace tartan
