// Colors by value: finding and posting against removal and against growth; docs/design/color-table.md.

#include "core/sched/color_table.h"

#include <gtest/gtest.h>

#include "model_memory.h"
#include "program.h"
#include "small_policy.h"
#include "weakened_memory.h"

namespace tartan::model {
namespace {

// Which of the two colors moves when the table grows from one bucket to two.
constexpr unsigned moves = (detail::mix(3) & 1) == 1 ? 1 : 0;
constexpr unsigned stays = 1 - moves;
static_assert(((detail::mix(2) ^ detail::mix(3)) & 1) == 1);

constexpr unsigned outside = 9;  // the number of a thread that is no worker

template <class Memory>
using table_of = detail::color_table<Memory, detail::color_queue_of<Memory, small_event>, 1>;

// A small policy with a table of one bucket, and the books of two colors.
template <class Memory, unsigned Workers>
struct town : small_policy<Memory, Workers, small_traits, table_of<Memory>> {
  using color = small_color<Memory>;
  using color_queue = typename color::color_queue;
  static constexpr std::uint64_t values[2] = {2, 3};
  ghost<int> queues_made{0, "color queues made"};

  std::array<small_ledger, 2> books;

  // As default_poster::post_by_value; `unsigned` numbers are those of values.
  void post_by_value(unsigned from, unsigned which, small_event& e) {
    e.content = 1;
    bool crowded = false;
    bool owes = false;
    detail::appended outcome = detail::appended::refused;
    color_queue* q = nullptr;
    {
      typename table_of<Memory>::hold bucket{this->table, values[which]};
      q = bucket.find(values[which], crowded);
      if (q == nullptr) {
        q = &make<color>(books[which], values[which], from < Workers ? from : 0u)->queue;
        queues_made = queues_made + 1;
        bucket.insert(*q);
      }
      if (from < Workers && q->owner.load(std::memory_order_relaxed) == from && this->homes[from].lock.try_enter()) {
        outcome = this->homes[from].append(*q, e);
        this->homes[from].lock.leave();
      }
      if (outcome == detail::appended::refused) owes = q->in.push(e, e) == detail::pushed::owes_link;
    }
    if (owes) this->link(*q, this->sender_of(from));
    if (crowded) this->table.grow();
  }
  /// At the end: so much has run, and an idle color is nothing.
  void all_ran(unsigned which, int events) {
    this->settle();
    check(books[which].data == events, "no-orphan: every event that was posted runs");
    bool crowded = false;
    typename table_of<Memory>::hold bucket{this->table, values[which]};
    check(bucket.find(values[which], crowded) == nullptr, "no-leftover: an idle color is not in the table");
  }
};

template <class Memory>
result posts_against_removal(const options& bounds) {
  return explore(bounds, [](program& p) {
    auto* const s = p.make<town<Memory, 1>>();
    p.thread("poster", [=, a = p.make<small_event>(0, 1)] { s->post_by_value(outside, stays, *a); });
    p.thread("second poster", [=, a = p.make<small_event>(1, 1)] { s->post_by_value(outside, stays, *a); });
    p.thread("owner", [=] { s->work(0, 2); });
    p.finally([=] { s->all_ran(stays, 2); });
  });
}

TEST(color_table, loses_no_post_against_the_removal_of_an_idle_color) {
  const result found = posts_against_removal<model_memory>({.name = "posts_against_removal"});
  EXPECT_TRUE(found.proved()) << found.report;
}

// The link of a post comes late, and a thief may take it: the color is removed all the same.
template <class Memory>
result removal_against_thief(const options& bounds) {
  return explore(bounds, [](program& p) {
    auto* const s = p.make<town<Memory, 2>>();
    s->post_by_value(0, stays, *p.make<small_event>(3, 1));
    p.thread("poster", [=, a = p.make<small_event>(0, 1)] { s->post_by_value(outside, stays, *a); });
    p.thread("owner", [=] { s->work(0, 2); });
    p.thread("thief", [=] {
      if (s->steal(1, 0)) s->work(1, 1);
    });
    p.finally([=] { s->all_ran(stays, 2); });
  });
}

TEST(color_table, leaves_no_idle_color_behind_if_a_thief_unlinks_it_while_it_runs) {
  const result found = removal_against_thief<model_memory>({.name = "removal_against_thief"});
  EXPECT_TRUE(found.proved()) << found.report;
}

// A worker posts by value to a color that it may have lost, holding the bucket but not waiting for its own lock.
template <class Memory>
result worker_posts_while_robbed(const options& bounds) {
  return explore(bounds, [](program& p) {
    auto* const s = p.make<town<Memory, 2>>();
    s->post_by_value(0, stays, *p.make<small_event>(3, 1));
    p.thread("owner", [=, a = p.make<small_event>(0, 1), b = p.make<small_event>(0, 2)] {
      s->post_by_value(0, stays, *a);
      s->work(0, 1);
      s->post_by_value(0, stays, *b);
    });
    p.thread("thief", [=] {
      if (s->steal(1, 0)) s->work(1, 2);
    });
    p.finally([=] { s->all_ran(stays, 3); });
  });
}

TEST(color_table, keeps_the_order_of_a_worker_that_is_robbed_between_two_posts) {
  const result found = worker_posts_while_robbed<model_memory>({.name = "posts_by_value_while_robbed"});
  EXPECT_TRUE(found.proved()) << found.report;
}

// Two colors in one bucket, one of them about to move: it is found where it is, or will be.
template <class Memory>
result posts_against_growth(const options& bounds) {
  return explore(bounds, [](program& p) {
    auto* const s = p.make<town<Memory, 1>>();
    s->post_by_value(0, moves, *p.make<small_event>(3, 1));
    s->post_by_value(0, stays, *p.make<small_event>(3, 1));
    p.thread("grower", [=] { s->table.grow(); });
    p.thread("poster", [=, a = p.make<small_event>(0, 1)] { s->post_by_value(outside, moves, *a); });
    p.thread("owner", [=] { s->work(0, 1); });
    p.finally([=] {
      check(s->table.buckets() == 2, "the table has grown");
      s->all_ran(stays, 1);
      s->all_ran(moves, 2);
    });
  });
}

TEST(color_table, finds_every_color_while_it_grows) {
  const result found = posts_against_growth<model_memory>({.name = "posts_against_growth"});
  EXPECT_TRUE(found.proved()) << found.report;
}

// A color that is new to both posters, while the bucket where it belongs changes.
template <class Memory>
result new_color_against_growth(const options& bounds) {
  return explore(bounds, [](program& p) {
    auto* const s = p.make<town<Memory, 1>>();
    s->post_by_value(0, stays, *p.make<small_event>(3, 1));
    p.thread("grower", [=] { s->table.grow(); });
    p.thread("poster", [=, a = p.make<small_event>(0, 1)] { s->post_by_value(outside, moves, *a); });
    p.thread("second poster", [=, a = p.make<small_event>(1, 1)] { s->post_by_value(outside, moves, *a); });
    p.finally([=] {
      check(s->queues_made == 2, "one-queue: both posters have found the same");
      s->all_ran(stays, 1);
      s->all_ran(moves, 2);
    });
  });
}

TEST(color_table, makes_one_color_queue_for_a_new_color_while_it_grows) {
  const result found = new_color_against_growth<model_memory>({.name = "new_color_against_growth"});
  EXPECT_TRUE(found.proved()) << found.report;
}

// Two at once want it to grow: one does, the other goes on.
TEST(color_table, is_split_by_one_thread_at_a_time) {
  const result found = explore({.name = "two_growers"}, [](program& p) {
    auto* const s = p.make<town<model_memory, 1>>();
    s->post_by_value(0, stays, *p.make<small_event>(3, 1));
    p.thread("grower", [=] { s->table.grow(); });
    p.thread("second grower", [=] { s->table.grow(), s->table.grow(); });
    p.thread("poster", [=, a = p.make<small_event>(0, 1)] { s->post_by_value(outside, stays, *a); });
    p.finally([=] {
      check(s->table.buckets() >= 2 && s->table.buckets() <= 4, "each growth is one bucket");
      s->all_ran(stays, 2);
    });
  });
  EXPECT_TRUE(found.proved()) << found.report;
}

TEST(color_table, needs_its_orders) {
  EXPECT_FALSE(posts_against_removal<without_order>({.name = "posts_against_removal_relaxed"}).passed);
  EXPECT_FALSE(posts_against_growth<without_order>({.name = "posts_against_growth_relaxed"}).passed);
}

}  // namespace
}  // namespace tartan::model
