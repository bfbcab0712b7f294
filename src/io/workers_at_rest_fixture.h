#pragma once
/// For tests of workers that do not run: each step of a sleep by hand, in a time that stands still.

#include <gtest/gtest.h>

#include <cstdint>
#include <tartan/core/strand.h>
#include <vector>

#include "core/tuning.h"
#include "io/guard_fixture.h"

namespace tartan::test {

inline constexpr std::uint64_t begin_ns = 1'000'000'000;

/// In a run in which no thread takes part: all workers count as awake, and only the test uses them.
class workers_at_rest : public guarded {
 protected:
  void SetUp() override {
    time.still_at_ns = begin_ns;
    detail::lifecycle_probe::begin_run(life());
  }
  void TearDown() override {
    for (unsigned n = 0; n < size(); ++n) {
      if (sleepers().is_asleep(n) || sleepers().is_claimed(n)) gets_up(n);
    }
    detail::lifecycle_probe::end_run(life());
  }

  [[nodiscard]] static unsigned size() { return GetParam(); }
  [[nodiscard]] detail::lifecycle::idle& sleepers() { return life().sleepers(); }
  [[nodiscard]] static std::uint64_t far_ns() { return detail::guard_far_ns(size()); }

  detail::bed takes_bed(unsigned index) { return detail::lifecycle_probe::take_bed(life(), index); }
  /// In the bed that it has taken.
  detail::idle_view rests(unsigned index) {
    sleepers().search();
    return sleepers().rest(index, life().at(index).rests_in);
  }
  detail::bed goes_to_bed(unsigned index) {
    const detail::bed chosen = takes_bed(index);
    static_cast<void>(rests(index));
    return chosen;
  }
  void gets_up(unsigned index) {
    detail::lifecycle_probe::get_up(life(), index);
    static_cast<void>(sleepers().end_search());
  }
  /// All but worker 0; worker 1 is the guard.
  void others_go_to_bed() {
    for (unsigned n = 1; n < size(); ++n) EXPECT_EQ(goes_to_bed(n), n == 1 ? detail::bed::guard : detail::bed::token);
  }
  [[nodiscard]] std::vector<unsigned> claimed() {
    std::vector<unsigned> all;
    for (unsigned n = 0; n < size(); ++n) {
      if (sleepers().is_claimed(n)) all.push_back(n);
    }
    return all;
  }
  /// Worker 0, which has searched, has found work.
  void worker_0_finds_work() {
    sleepers().search();
    life().at(0).searching = true;
    life().found_work(life().at(0));
  }
  /// Colors with an event each, which wait there.
  [[nodiscard]] std::vector<strand> line_at(unsigned index, int colors) {
    std::vector<strand> line;
    for (int n = 0; n < colors; ++n) {
      line.emplace_back(rt);
      rt.state().policy().place(detail::strand_access::state(line.back()), index);
      line.back().post([] {});
    }
    return line;
  }
};

}  // namespace tartan::test
