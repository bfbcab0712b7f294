#pragma once
/// What the tests of a runtime share: how many workers, what a test may not leave behind, waiting without sleeping.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <string>
#include <tartan/core/options.h>
#include <thread>
#include <vector>

namespace tartan::test {

/// The long form of the tests: `make soak`.
inline bool soak() {
  return std::getenv("TARTAN_SOAK") != nullptr;
}

inline std::vector<unsigned> worker_counts() {
  if (soak()) return {1, 2, 4, 8, 64};
  return {1, 2, 4};
}
/// For what takes two events at a time.
inline std::vector<unsigned> several_workers() {
  std::vector<unsigned> counts = worker_counts();
  counts.erase(counts.begin());
  return counts;
}
inline std::string worker_name(const testing::TestParamInfo<unsigned>& info) {
  return std::to_string(info.param) + (info.param == 1 ? "_worker" : "_workers");
}

inline unsigned rounds(unsigned usual) {
  return soak() ? 20 * usual : usual;
}

/// Waits for another thread; gives it the CPU, because there may be only one.
template <class Condition>
void spin_until(Condition condition) {
  while (!condition()) std::this_thread::yield();
}

inline std::size_t entries_of(const char* folder) {
  const std::filesystem::directory_iterator all{folder};
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}
inline std::size_t open_descriptors() {
  return entries_of("/proc/self/fd");
}
inline std::size_t threads() {
  return entries_of("/proc/self/task");
}

/// Gives up after a while: a thread that was joined is listed until the kernel has buried it.
inline std::size_t threads_after_burial(std::size_t expected) {
  for (int looks = 0; looks < 100'000 && threads() > expected; ++looks) std::this_thread::yield();
  return threads();
}

/// A test after which no thread and no descriptor is left.
class leaves_nothing : public testing::Test {
 protected:
  void SetUp() override {
    std::thread{[] {}}.join();  // ThreadSanitizer starts a thread of its own with the first one
    threads_ = threads();
    descriptors_ = open_descriptors();
  }
  void TearDown() override {
    EXPECT_LE(threads_after_burial(threads_), threads_);  // fewer: one of an earlier test was not buried yet when this one began
    EXPECT_EQ(open_descriptors(), descriptors_);
  }

 private:
  std::size_t threads_ = 0;
  std::size_t descriptors_ = 0;
};

/// A test with a number of workers.
class on_workers : public leaves_nothing, public testing::WithParamInterface<unsigned> {
 protected:
  [[nodiscard]] static options settings() {
    options with;
    with.workers = GetParam();
    return with;
  }
};

}  // namespace tartan::test
