// What a batch that an event posts owes, and when it is paid. No worker runs: the test posts in the place of worker 0.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <source_location>
#include <tartan/core/runtime.h>
#include <vector>

#include "core/lifecycle.h"
#include "core/runtime_state.h"
#include "core/sched/default_policy.h"

namespace tartan::detail {
namespace {

/// Nobody sleeps here; tells who is woken.
class woken_poller final : public poller {
 public:
  void attach(unsigned /*workers*/) override {}
  [[nodiscard]] std::uint64_t now_ns() noexcept override { return 1'000'000'000; }
  slept sleep(unsigned /*worker*/, wake_token& /*token*/, sleep_limit /*limit*/) noexcept override { return slept::alone; }
  void wake(unsigned worker, wake_token& /*token*/) noexcept override {
    if (on_wake) on_wake(worker);
  }
  bool harvest(unsigned /*worker*/) noexcept override { return false; }

  std::function<void(unsigned)> on_wake;
};

class a_batch_from_an_event : public testing::Test {
 protected:
  a_batch_from_an_event() {
    poster.in_event = true;
    sleepers.resume();
    sleepers.search();
    sleepers.rest(1);
    clock.on_wake = [this](unsigned woken) { wakes.push_back({woken, {policy.waiting(0), policy.waiting(1), policy.waiting(2)}}); };
  }
  ~a_batch_from_an_event() override {
    for (strand_state* const each : opened) policy.close_strand(*each, &poster);
    (void)sleepers.cancel(1);
    (void)sleepers.end_search();
    sleepers.pause();
    clock.on_wake = nullptr;
    poster.in_event = false;
  }

  strand_state& strand_of(unsigned worker_index) {
    opened.push_back(policy.open_strand(nullptr, false));
    policy.place(*opened.back(), worker_index);
    return *opened.back();
  }
  void add(color where) { many.push_back({where, make_event(rt.state(), [] {}, std::source_location::current())}); }
  void add(strand_state& s) { add(policy.color_of(s)); }

  static options settings(poller& clock) {
    options with;
    with.workers = 3;
    with.poller = &clock;
    return with;
  }

  /// Who was woken, and how many colors waited for each worker then.
  struct wake {
    unsigned woken;
    std::size_t waiting[3];
    bool operator==(const wake&) const = default;
  };

  woken_poller clock;
  runtime rt{settings(clock)};
  scheduler& policy = rt.state().policy();
  worker& poster = rt.state().life().at(0);
  lifecycle::idle& sleepers = rt.state().life().sleepers();
  std::vector<strand_state*> opened;
  std::vector<addressed_event> many;
  std::vector<wake> wakes;
};

TEST_F(a_batch_from_an_event, links_the_colors_of_another_worker_together_and_wakes_it_once) {
  for (int n = 0; n < 3; ++n) add(strand_of(1));
  add(strand_of(2));
  add(strand_of(0));
  policy.submit_many(many, &poster);
  EXPECT_EQ(wakes, (std::vector<wake>{{1, {1, 3, 0}}}));
  EXPECT_EQ(policy.waiting(2), 1u);
}

TEST_F(a_batch_from_an_event, is_known_as_the_sender_so_that_colors_can_move_to_it) {
  strand_state& s = strand_of(1);
  add(s);
  policy.submit_many(many, &poster);
  EXPECT_EQ(reinterpret_cast<color_queue&>(s).linked_by, poster.index);
}

TEST_F(a_batch_from_an_event, looks_once_for_all_that_is_runnable_at_home) {
  for (int n = 0; n < 100; ++n) add(strand_of(0));
  policy.submit_many(many, &poster);
  EXPECT_EQ(wakes, (std::vector<wake>{{1, {100, 0, 0}}}));
}

TEST_F(a_batch_from_an_event, hides_no_more_than_128_colors_wherever_they_are) {
  for (int n = 0; n < 100; ++n) add(strand_of(0));
  for (int n = 0; n < 100; ++n) add(strand_of(2));
  policy.submit_many(many, &poster);
  EXPECT_EQ(wakes, (std::vector<wake>{{1, {100, 0, 28}}}));
  EXPECT_EQ(policy.waiting(2), 100u);
}

// Memory from the system may take long to come.
TEST_F(a_batch_from_an_event, pays_before_it_waits_for_memory) {
  add(color{1000});  // from then on some lines are at hand
  policy.submit_many(many, &poster);
  many.clear();
  wakes.clear();
  (void)sleepers.cancel(1);
  sleepers.rest(1);
  const std::uint32_t at_hand = poster.queue_lines.count();
  ASSERT_GT(at_hand, 0u);
  ASSERT_LT(at_hand, 100u);
  add(strand_of(1));
  for (std::uint32_t n = 0; n < at_hand + 10; ++n) add(color{n + 1});
  policy.submit_many(many, &poster);
  EXPECT_EQ(wakes, (std::vector<wake>{{1, {at_hand + 1, 1, 0}}}));
}

}  // namespace
}  // namespace tartan::detail
