#pragma once
/// For tests of objects with descriptors: a runtime on the kernel's sockets or on simulated ones.

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <tartan/core/runtime.h>
#include <tartan/core/spawn.h>
#include <tartan/core/task.h>
#include <tartan/core/yield.h>
#include <tartan/io/simulation.h>
#include <tartan/time/sleep.h>
#include <utility>
#include <vector>

#include "core/root_registry.h"
#include "core/runtime_state.h"
#include "io/service.h"
#include "tests/seed.h"
#include "tests/workers.h"

namespace tartan::test {

/// The color of the objects under test.
inline constexpr color here_color{7};

enum class machine : std::uint8_t { kernel, simulated };

/// Where a test runs.
struct place {
  machine on = machine::kernel;
  unsigned workers = 1;
};
inline std::string name_of(const place& p) {
  return (p.on == machine::kernel ? "kernel_" : "simulated_") + std::to_string(p.workers) + (p.workers == 1 ? "_worker" : "_workers");
}
inline std::ostream& operator<<(std::ostream& out, const place& p) {
  return out << name_of(p);
}
inline std::string place_name(const testing::TestParamInfo<place>& info) {
  return name_of(info.param);
}

inline std::vector<place> places_on(machine m) {
  std::vector<place> all;
  for (const unsigned workers : worker_counts()) all.push_back({m, workers});
  return all;
}
inline std::vector<place> both_machines() {
  std::vector<place> all = places_on(machine::kernel);
  for (const place& each : places_on(machine::simulated)) all.push_back(each);
  return all;
}

/// The system calls of the runtime whose event runs.
inline detail::io_system& system_here(std::source_location site = std::source_location::current()) {
  return detail::io_service::of(detail::required_runtime("a test", site)).system();
}

/// A runtime on one machine, made when it is first asked for. A simulated one has a seed of its own, which is printed.
class on_machine : public leaves_nothing {
 protected:
  void TearDown() override {
    if (rt_ != nullptr) {
      EXPECT_EQ(rt_->state().roots().size(), 0u) << "coroutines are left";
    }
    rt_.reset();
    if (world_) {
      EXPECT_EQ(world_->descriptors(), 0u) << "simulated descriptors are left";
    }
    world_.reset();
    leaves_nothing::TearDown();
  }

  [[nodiscard]] virtual place where() const = 0;
  [[nodiscard]] bool simulated() const { return where().on == machine::simulated; }

  /// For the simulated one; before the runtime is asked for.
  simulation_options world_with;

  options settings() {
    options with;
    with.workers = where().workers;
    with.stall_after = {};
    if (!simulated()) return with;
    if (!world_) {
      world_with.seed = seed();
      world_.emplace(world_with);
    }
    with.poller = world_->poller();
    return with;
  }
  runtime& rt() {
    if (rt_ == nullptr) rt_ = std::make_unique<runtime>(settings());
    return *rt_;
  }
  void end_runtime() { rt_.reset(); }

  /// Runs a coroutine function in here_color until nothing is left.
  template <class F>
  void in_color(F f) {
    auto handle = spawn_in(rt(), here_color, f);
    handle.detach();
    rt().run_until_idle();
  }

  /// Lets others go first; in a simulation, also time: whatever is on its way arrives.
  [[nodiscard]] task<> moment() const {
    if (simulated()) {
      static_cast<void>(co_await sleep(std::chrono::milliseconds{5}));
    } else {
      co_await tartan::yield();
    }
  }
  /// As long as it takes.
  template <class Condition>
  [[nodiscard]] task<> until(Condition condition) const {
    while (!condition()) co_await moment();
  }
  /// For what was sent by a system call: the kernel has it at once.
  [[nodiscard]] task<> arrival() const {
    if (simulated()) co_await moment();
  }

 private:
  std::optional<simulation> world_;
  std::unique_ptr<runtime> rt_;
};

}  // namespace tartan::test
