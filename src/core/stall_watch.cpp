// A handler that blocks is the commonest mistake in an event program, and the hardest to see: nothing fails, everything is slow.
// Two clock reads per event would find it, at 100 ns each. Here a worker pays one plain store: it shows in words of its own
// which event it is at, and this thread looks from time to time whether that stands still.

#include "core/stall_watch.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <exception>
#include <system_error>
#include <utility>

#include "core/clock.h"
#include "core/fatal.h"
#include "core/lifecycle.h"
#include "core/runtime_state.h"
#include "core/sched/policy.h"
#include "core/signals.h"

namespace tartan::detail {

namespace {

constexpr int looks_per_stall = 4;
constexpr std::chrono::nanoseconds shortest_period = std::chrono::milliseconds{10};

/// The workers of a runtime.
class runtime_probe final : public stall_probe {
 public:
  explicit runtime_probe(runtime_state& rt) noexcept : rt_{rt} {}

  [[nodiscard]] unsigned workers() const noexcept override { return rt_.workers(); }
  [[nodiscard]] std::uint64_t events(unsigned index) const noexcept override {
    const worker& w = rt_.life().at(index);
    // Of two moments, if it goes on meanwhile: then this may be the last look's number again, but not at a second look.
    return w.turns.get() << 17 | w.left_in_batch.load(std::memory_order_acquire);  // pairs with run_events
  }
  [[nodiscard]] bool snapshot(unsigned index, stalled_handler& into) const noexcept override {
    const worker& w = rt_.life().at(index);
    if (!w.in_turn.load(std::memory_order_relaxed)) return false;
    into.in = read_whole(w.running);
    into.post_site = read_whole(w.site);
    into.colors_waiting = rt_.policy().waiting(index);
    return true;
  }
  [[nodiscard]] std::string name_of(color c) const override { return rt_.name_of(c); }
  [[nodiscard]] bool anybody_awake() const noexcept override {
    const idle_view seen = rt_.life().sleepers().view();
    return !seen.paused() && seen.awake() != 0;
  }

 private:
  runtime_state& rt_;
};

stall_setup setup_for(runtime_state& rt) {
  stall_setup setup;
  setup.stall_after = rt.settings().stall_after;
  setup.on_stall = rt.settings().on_stall;
  if (rt.settings().bind_workers) setup.unbound = rt.cpus();
  return setup;
}

std::chrono::nanoseconds period_for(const stall_setup& setup) noexcept {
  return std::max(setup.stall_after / looks_per_stall, shortest_period);
}

void print(const stalled_handler& what) {
  const std::string line = "tartan: " + stall_text(what) + '\n';
  // A warning: if stderr is closed or full there is nobody to tell.
  while (::write(STDERR_FILENO, line.data(), line.size()) < 0 && errno == EINTR) {
  }
}

}  // namespace

std::string stall_text(const stalled_handler& what) {
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(what.running_for).count();
  return "a handler on worker " + std::to_string(what.worker) + " has been running for " + std::to_string(ms) +
         " ms: " + color_text(what.in, what.name) + ", posted at " + place(what.post_site) + "; " +
         std::to_string(what.colors_waiting) + (what.colors_waiting == 1 ? " color waits" : " colors wait");
}

stall_watch::stall_watch(runtime_state& rt) : stall_watch{std::make_unique<runtime_probe>(rt), setup_for(rt)} {}

stall_watch::stall_watch(std::unique_ptr<stall_probe> probe, stall_setup with)
    : own_probe_{std::move(probe)},
      probe_{*own_probe_},
      setup_{std::move(with)},
      period_{period_for(setup_)},
      seen_(probe_.workers()) {}

stall_watch::stall_watch(const stall_probe& probe, stall_setup with)
    : probe_{probe}, setup_{std::move(with)}, period_{period_for(setup_)}, seen_(probe.workers()) {}

bool stall_watch::look(std::uint64_t now_ns) {
  bool moved = false;
  for (unsigned worker = 0; worker < seen_.size(); ++worker) moved = look_at(worker, now_ns) || moved;
  if (moved || probe_.anybody_awake()) {
    quiet_looks_ = 0;
  } else if (quiet_looks_ < looks_per_stall) {
    ++quiet_looks_;
  }
  return quiet_looks_ < looks_per_stall;
}

/// Gives whether the worker did anything since the last look.
bool stall_watch::look_at(unsigned worker, std::uint64_t now_ns) {
  sight& last = seen_[worker];
  const std::uint64_t events = probe_.events(worker);
  const bool moved = events != last.events;
  last.events = events;

  stalled_handler now;
  if (!probe_.snapshot(worker, now)) {
    last.known = false;
    return moved;
  }
  if (moved || !last.known) {
    last.known = true;
    last.reported = false;
    last.since_ns = now_ns;
    return true;
  }
  now.running_for = std::chrono::nanoseconds{now_ns - last.since_ns};
  if (last.reported || now.running_for < setup_.stall_after) return moved;
  if (probe_.events(worker) != events) return true;  // it went on while we looked: the snapshot may mix two events
  last.reported = true;
  report(worker, std::move(now));
  return moved;
}

void stall_watch::report(unsigned worker, stalled_handler what) {
  what.worker = worker;
  what.name = probe_.name_of(what.in);
  if (setup_.on_stall) {
    setup_.on_stall(what);
  } else {
    print(what);
  }
}

void stall_watch::start() {
  if (started_ || setup_.stall_after <= std::chrono::nanoseconds::zero()) return;
  stopping_ = false;
  quiet_looks_ = 0;
  const signals_blocked quiet;  // inherited
  const auto enter = [](void* self) -> void* {
    static_cast<stall_watch*>(self)->watch();
    return nullptr;
  };
  if (const int error = setup_.create_thread(&thread_, nullptr, enter, this); error != 0) {
    throw std::system_error{error, std::system_category(),
                            "tartan: the thread that watches for stalls cannot be started"};
  }
  started_ = true;
}

void stall_watch::stop() noexcept {
  if (!started_) return;
  {
    const std::lock_guard held{lock_};
    stopping_ = true;
  }
  wake_.notify_one();
  if (const int error = ::pthread_join(thread_, nullptr); error != 0) {
    fatal({"the thread that watches for stalls cannot be joined: ", std::system_category().message(error)});
  }
  started_ = false;
}

void stall_watch::watch() noexcept {
  static_cast<void>(::pthread_setname_np(::pthread_self(), "tartan-stalls"));  // only shown in tools
  if (bind_to_all(setup_.unbound)) {
    // Refused: it looks from the CPU that it was started on.
  }
  std::unique_lock held{lock_};
  while (!stopping_) {
    held.unlock();
    bool again = true;
    try {
      again = look(real_now_ns());
    } catch (const std::exception& e) {
      fatal({"on_stall threw: ", e.what()});
    } catch (...) {
      fatal({"on_stall threw something that is no std::exception"});
    }
    held.lock();
    if (again) {
      wake_.wait_for(held, period_, [this] { return stopping_; });
    } else {
      park(held);
    }
  }
}

/// Sleeps until a worker has woken.
void stall_watch::park(std::unique_lock<std::mutex>& held) {
  parked_.store(true, std::memory_order_relaxed);
  real_memory::heavy_barrier();  // pairs with notice_awake's light one
  if (probe_.anybody_awake()) parked_.store(false, std::memory_order_relaxed);
  wake_.wait(held, [this] { return stopping_ || !parked_.load(std::memory_order_relaxed); });
  parked_.store(false, std::memory_order_relaxed);
  quiet_looks_ = 0;
}

void stall_watch::unpark() noexcept {
  {
    const std::lock_guard held{lock_};
    if (!parked_.load(std::memory_order_relaxed)) return;  // another worker was first
    parked_.store(false, std::memory_order_relaxed);
  }
  wake_.notify_one();
}

}  // namespace tartan::detail
