#pragma once
/// For tests of coroutines: a runtime with a virtual clock; at the end nothing is left.

#include <gtest/gtest.h>

#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <tartan/core/runtime.h>
#include <tartan/core/spawn.h>
#include <vector>

#include "core/root_registry.h"
#include "core/runtime_state.h"
#include "tests/virtual_time.h"
#include "tests/workers.h"

namespace tartan::test {

class coroutines : public on_workers {
 protected:
  void SetUp() override {
    on_workers::SetUp();
    with = settings();
    with.poller = &clock;
    with.stall_after = {};
    with.on_exception = [this](const escaped_exception& e) {
      const std::lock_guard hold{escaped_lock_};
      escaped_.push_back(e);
    };
  }
  void TearDown() override {
    if (rt_ != nullptr && !expect_suspended) {
      EXPECT_EQ(coroutines_left(), 0u) << "coroutines are left";
    }
    end_runtime();
    EXPECT_EQ(escaped_.size(), escapes_seen_) << "an exception was reported that the test did not expect";
    on_workers::TearDown();
  }

  runtime& rt() {
    if (rt_ == nullptr) {
      rt_ = std::make_unique<runtime>(with);
    }
    return *rt_;
  }
  void run() { rt().run_until_idle(); }
  void end_runtime() { rt_.reset(); }
  std::size_t coroutines_left() { return rt().state().roots().size(); }

  /// What was reported since the last call.
  std::vector<escaped_exception> take_escaped() {
    const std::lock_guard hold{escaped_lock_};
    std::vector<escaped_exception> taken{escaped_.begin() + static_cast<std::ptrdiff_t>(escapes_seen_), escaped_.end()};
    escapes_seen_ = escaped_.size();
    return taken;
  }

  virtual_poller clock;
  options with;
  bool expect_suspended = false;  ///< at the end of the test coroutines still wait, for the runtime to destroy them

 private:
  std::mutex escaped_lock_;
  std::vector<escaped_exception> escaped_;
  std::size_t escapes_seen_ = 0;
  std::unique_ptr<runtime> rt_;
};

inline std::string what_of(const std::exception_ptr& e) {
  try {
    std::rethrow_exception(e);
  } catch (const std::exception& caught) {
    return caught.what();
  } catch (...) {
    return "something else";
  }
}

/// Counts how many of it exist, and where the last one ended.
class counted {
 public:
  explicit counted(std::atomic<int>& alive) noexcept : alive_{&alive} { alive_->fetch_add(1); }
  counted(const counted& other) noexcept : alive_{other.alive_} { alive_->fetch_add(1); }
  counted(counted&& other) noexcept : alive_{other.alive_} { alive_->fetch_add(1); }
  counted& operator=(const counted&) = delete;
  ~counted() { alive_->fetch_sub(1); }

 private:
  std::atomic<int>* alive_;
};

}  // namespace tartan::test
