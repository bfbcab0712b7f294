#include "io/sim/simulated_world.h"

#include <algorithm>
#include <chrono>

namespace tartan {

namespace detail {

simulated_world::simulated_world(const simulation_options& with) : network_{with, [this] { return now_ns(); }, [this] { stir(); }} {}

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

/// From within the network: a call of a foreign thread may have made something due for which all workers sleep too long. A worker's
/// own calls need no word: it is awake.
void simulated_world::stir() noexcept {
  changed_.notify_all();
}

slept simulated_world::sleep(unsigned worker, wake_token& token, sleep_limit limit) noexcept {
  constexpr std::uint64_t an_hour_ns = 3'600'000'000'000;
  const auto patience_ends = std::chrono::steady_clock::now() + std::chrono::nanoseconds{std::min(limit.at_most_ns, an_hour_ns)};
  std::unique_lock hold{lock_};
  sleepers_[worker] = {&token, limit.until_ns, true};
  // acquire: pairs with the waker's claim
  while (token.load(std::memory_order_acquire) == token_asleep && now_ns() < limit.until_ns && network_.next_ns() > now_ns()) {
    if (jump()) continue;
    if (limit.at_most_ns == never_ns) {
      // A stir between the look and the wait is not missed for long; foreign threads in a simulation are rare.
      changed_.wait_for(hold, std::chrono::milliseconds{10});
    } else if (changed_.wait_until(hold, patience_ends) == std::cv_status::timeout) {
      break;
    }
  }
  sleepers_[worker].sleeps = false;
  return slept::alone;
}

void simulated_world::wake(unsigned /*worker*/, wake_token& /*token*/) noexcept {
  const std::lock_guard hold{lock_};
  changed_.notify_all();
}

/// To the earliest time that anybody waits for, if all sleep.
bool simulated_world::jump() noexcept {
  std::uint64_t earliest = network_.next_ns();
  for (const sleeper& each : sleepers_) {
    // acquire: pairs with a claim; a token that was changed is a worker's that will be awake in a moment
    if (!each.sleeps || (each.token != nullptr && each.token->load(std::memory_order_acquire) != token_asleep)) return false;
    earliest = std::min(earliest, each.until_ns);
  }
  if (earliest == never_ns || earliest <= now_ns()) return false;
  now_ns_.store(earliest, std::memory_order_release);  // pairs with now_ns()
  changed_.notify_all();
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
