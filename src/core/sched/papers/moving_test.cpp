// A color on its way from one worker to another: what is posted to it, and who else comes for it, between the two locks of a steal. While
// nobody runs, so that every step is the test's own.

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <tartan/core/hints.h>
#include <tartan/core/post.h>
#include <tartan/core/runtime.h>
#include <utility>

#include "core/runtime_state.h"
#include "core/sched/papers/policy_probes.h"

namespace tartan {
namespace {

using namespace std::chrono_literals;

template <class Probe>
class a_color_on_its_way : public testing::Test {
 protected:
  using policy = typename Probe::policy;
  static constexpr unsigned workers = 3;
  static constexpr unsigned moved = 3;  // at home on worker 0, as all multiples of 3

  static options with() {
    options made;
    made.scheduler = std::is_same_v<policy, detail::per_worker_policy> ? "per_worker" : "color_queues:time-left";
    made.workers = workers;
    return made;
  }
  bool steal(unsigned thief, unsigned victim) { return Probe::steal_from(Probe::of(rt), rt.state().life().at(thief), victim); }

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
};

using probes = testing::Types<detail::per_worker_probe, detail::color_queues_probe>;
TYPED_TEST_SUITE(a_color_on_its_way, probes, );

TYPED_TEST(a_color_on_its_way, keeps_what_was_posted_before_it_left_in_front) {
  this->post_moved('a');
  this->post_moved('b');
  this->post_others(0);
  TypeParam::between(TypeParam::of(this->rt), [this] { this->post_moved('c'); });
  ASSERT_TRUE(this->steal(1, 0));
  EXPECT_EQ(TypeParam::owner(TypeParam::of(this->rt), this->moved), 1u);
  TypeParam::between(TypeParam::of(this->rt), {});
  this->rt.run_until_idle();
  EXPECT_EQ(this->seen, "abc");
}

TYPED_TEST(a_color_on_its_way, is_not_stolen_from_where_it_has_not_arrived) {
  this->post_moved('a');
  this->post_moved('b');
  this->post_others(0);
  TypeParam::between(TypeParam::of(this->rt), [this, inside = false]() mutable {
    if (std::exchange(inside, true)) return;  // the second thief's
    this->post_moved('c');
    this->post_others(1);
    static_cast<void>(this->steal(2, 1));
    EXPECT_EQ(TypeParam::owner(TypeParam::of(this->rt), this->moved), 1u);
  });
  ASSERT_TRUE(this->steal(1, 0));
  EXPECT_EQ(TypeParam::owner(TypeParam::of(this->rt), this->moved), 1u);
  TypeParam::between(TypeParam::of(this->rt), {});
  this->rt.run_until_idle();
  EXPECT_EQ(this->seen, "abc");
}

}  // namespace
}  // namespace tartan
