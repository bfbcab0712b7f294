#pragma once
/// What the tests of a runtime share: how many workers, what a test may not leave behind, waiting without sleeping.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
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

inline std::size_t open_descriptors() {
  const std::filesystem::directory_iterator all{"/proc/self/fd"};
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

/// Whether a thread has begun to exit, by its folder in /proc: it stays listed for a while after it was joined.
inline bool is_exiting(const std::filesystem::path& thread) {
  constexpr unsigned long pf_exiting = 4;
  std::ifstream stat{thread / "stat"};
  std::string text;
  std::getline(stat, text);
  // After the name, which may hold anything: state, five numbers, flags. See proc(5).
  std::istringstream fields{text.substr(text.rfind(')') + 1)};
  std::string skipped;
  for (int field = 0; field < 6; ++field) fields >> skipped;
  unsigned long flags = pf_exiting;  // gone meanwhile
  fields >> flags;
  return (flags & pf_exiting) != 0;
}

/// Those that live: one that was joined does not count, though the kernel may need long to bury it.
inline std::size_t threads() {
  const std::filesystem::directory_iterator all{"/proc/self/task"};
  return static_cast<std::size_t>(std::count_if(begin(all), end(all), [](const auto& each) { return !is_exiting(each.path()); }));
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
    EXPECT_EQ(threads(), threads_);
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
