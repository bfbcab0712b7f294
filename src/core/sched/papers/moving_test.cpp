// A color on its way from one worker to another: what is posted to it, and who else comes for it, between the two locks of a steal. While
// nobody runs, so that every step is the test's own. All orders of the steps: tests/model/moving_colors_test.cpp.

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <tartan/core/hints.h>
#include <tartan/core/post.h>
#include <tartan/core/runtime.h>
#include <type_traits>

#include "core/runtime_state.h"
#include "core/sched/papers/policy_probes.h"

namespace tartan {
namespace {

using namespace std::chrono_literals;

template <class Policy>
class a_color_on_its_way : public testing::Test {
 protected:
  using probe = detail::policy_probe<Policy>;
  using homes = std::remove_reference_t<decltype(probe::homes_of(std::declval<runtime&>()))>;
  static constexpr unsigned workers = 3;
  static constexpr unsigned moved = 3;  // at home on worker 0, as all multiples of 3

  static options with() {
    options made;
    made.scheduler = std::is_same_v<Policy, detail::per_worker_policy> ? "per_worker" : "color_queues:time-left";
    made.workers = workers;
    return made;
  }

  void post_moved(char name) {
    rt.post(color{moved}, with_hints({.cost = 1ms}, [this, name] { seen += name; }));
  }
  /// Two events each, of colors that are at home on this worker, and not worth a steal.
  void post_others(unsigned home) {
    for (unsigned n = 2; n < 8; ++n) {
      for (int twice = 0; twice < 2; ++twice) rt.post(color{n * workers + home}, with_hints({.cost = 1ns}, [] {}));
    }
  }

  std::string seen;
  runtime rt{with()};
  homes& all = probe::homes_of(rt);
};

using policies = testing::Types<detail::per_worker_policy, detail::color_queues_policy>;
TYPED_TEST_SUITE(a_color_on_its_way, policies, );

TYPED_TEST(a_color_on_its_way, keeps_what_was_posted_before_it_left_in_front) {
  this->post_moved('a');
  this->post_moved('b');
  this->post_others(0);
  typename TestFixture::homes::loot taken;
  ASSERT_TRUE(this->all.take(1, 0, taken));
  this->post_moved('c');
  this->all.put(1, taken);
  EXPECT_EQ(this->all.owner_of(this->moved), 1u);
  this->rt.run_until_idle();
  EXPECT_EQ(this->seen, "abc");
}

TYPED_TEST(a_color_on_its_way, is_not_stolen_from_where_it_has_not_arrived) {
  this->post_moved('a');
  this->post_moved('b');
  this->post_others(0);
  typename TestFixture::homes::loot taken;
  ASSERT_TRUE(this->all.take(1, 0, taken));
  this->post_moved('c');
  this->post_others(1);
  typename TestFixture::homes::loot others;
  if (this->all.take(2, 1, others)) this->all.put(2, others);
  EXPECT_EQ(this->all.owner_of(this->moved), 1u);
  this->all.put(1, taken);
  EXPECT_EQ(this->all.owner_of(this->moved), 1u);
  this->rt.run_until_idle();
  EXPECT_EQ(this->seen, "abc");
}

}  // namespace
}  // namespace tartan
