#include "core/sched/inbox.h"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <memory>
#include <string>

#include "core/sched/incoming.h"

namespace tartan::detail {
namespace {

struct alignas(16) node {
  node* next = nullptr;
  char name = '?';
};
using box = inbox<real_memory, node>;

std::string drained(box& from) {
  std::string names;
  for (node* n = from.drain(); n != nullptr; n = n->next) names += n->name;
  return names;
}

TEST(inbox, is_taken_whole_newest_first) {
  box in;
  std::array<node, 3> nodes{{{nullptr, 'a'}, {nullptr, 'b'}, {nullptr, 'c'}}};
  EXPECT_TRUE(in.empty());
  for (node& each : nodes) static_cast<void>(in.push(each, each));
  EXPECT_FALSE(in.empty());
  EXPECT_EQ(drained(in), "cba");
  EXPECT_TRUE(in.empty());
  EXPECT_EQ(in.drain(), nullptr);
}

TEST(inbox, takes_a_chain_in_one_push) {
  box in;
  node older{nullptr, 'a'};
  node oldest{nullptr, 'b'};
  node newest{&oldest, 'c'};
  static_cast<void>(in.push(older, older));
  static_cast<void>(in.push(newest, oldest));
  EXPECT_EQ(drained(in), "cba");
}

TEST(inbox, makes_the_first_poster_owe_the_link_until_it_is_unlinked) {
  box in;
  node a;
  node b;
  node c;
  EXPECT_EQ(in.push(a, a), pushed::owes_link);
  EXPECT_EQ(in.push(b, b), pushed::delivered);
  static_cast<void>(in.drain());
  EXPECT_TRUE(in.look().is_linked());  // taken, but still in somebody's chain
  EXPECT_EQ(in.push(c, c), pushed::delivered);
  in.unlink();
  EXPECT_FALSE(in.look().is_linked());
  EXPECT_TRUE(in.look().has_events());
  EXPECT_EQ(in.push(a, a), pushed::owes_link);
}

TEST(inbox, is_not_retired_while_it_has_events_or_is_linked) {
  box in;
  node a;
  EXPECT_EQ(in.push(a, a), pushed::owes_link);
  EXPECT_FALSE(in.retire());
  static_cast<void>(in.drain());
  EXPECT_FALSE(in.retire());
  in.unlink();
  EXPECT_TRUE(in.look().untouched());
  EXPECT_TRUE(in.retire());
}

TEST(inbox, refuses_posts_to_a_generation_that_is_gone) {
  box in;
  node a;
  const std::uint64_t first = in.generation();
  EXPECT_TRUE(in.retire());
  EXPECT_EQ(in.generation(), first + 1);
  EXPECT_EQ(in.push_if(first, a, a), pushed::refused);
  EXPECT_TRUE(in.empty());
  EXPECT_EQ(in.push_if(first + 1, a, a), pushed::owes_link);
  EXPECT_EQ(in.drain(), &a);
}

TEST(inbox, that_is_closed_is_linked_at_once_and_forgets_it_with_its_generation) {
  box in;
  EXPECT_EQ(in.close(), pushed::owes_link);
  EXPECT_TRUE(in.look().is_closing());
  EXPECT_FALSE(in.retire());  // who closed it still has to link it
  node late;
  EXPECT_EQ(in.push_if(0, late, late), pushed::delivered);
  EXPECT_EQ(in.drain(), &late);
  EXPECT_TRUE(in.look().is_closing());
  in.unlink();
  EXPECT_TRUE(in.retire());
  EXPECT_FALSE(in.look().is_closing());
}

TEST(inbox, counts_its_generations_to_the_last) {
  box in;
  for (std::uint64_t n = 0; n < box::last_generation; ++n) ASSERT_TRUE(in.retire());
  EXPECT_EQ(in.generation(), box::last_generation);
}

struct alignas(64) linked {
  linked* linked_next = nullptr;
};

TEST(incoming, hands_out_each_color_queue_once_also_those_that_come_meanwhile) {
  incoming<real_memory, linked> chain;
  std::array<linked, 4> all;
  EXPECT_TRUE(chain.empty());
  EXPECT_EQ(chain.take(), nullptr);
  chain.push(all[0], all[0], 1);
  all[2].linked_next = &all[1];
  chain.push(all[2], all[1], 2);
  EXPECT_FALSE(chain.empty());
  EXPECT_EQ(chain.take(), &all[2]);
  chain.push(all[3], all[3], 1);
  EXPECT_EQ(chain.take(), &all[1]);
  EXPECT_EQ(chain.take(), &all[0]);
  EXPECT_FALSE(chain.empty());
  EXPECT_EQ(chain.take(), &all[3]);
  EXPECT_TRUE(chain.empty());
  EXPECT_EQ(chain.take(), nullptr);
}

TEST(incoming, knows_how_many_there_are) {
  incoming<real_memory, linked> chain;
  std::array<linked, 4> all;
  EXPECT_EQ(chain.size(), 0u);
  chain.push(all[0], all[0], 1);
  all[2].linked_next = &all[1];
  chain.push(all[2], all[1], 2);
  EXPECT_EQ(chain.size(), 3u);
  EXPECT_EQ(chain.take(), &all[2]);
  EXPECT_EQ(chain.size(), 2u);
  chain.push(all[3], all[3], 1);
  EXPECT_EQ(chain.size(), 3u);
  while (chain.take() != nullptr) {
  }
  EXPECT_EQ(chain.size(), 0u);
}

TEST(incoming, is_not_confused_by_more_than_it_can_count) {
  incoming<real_memory, linked> chain;
  const auto most = std::size_t{1} << 22;
  const std::unique_ptr<linked[]> all{new linked[most + 1]};
  for (std::size_t n = 0; n <= most; ++n) chain.push(all[n], all[n], 1);
  for (std::size_t n = most + 1; n-- > 0;) ASSERT_EQ(chain.take(), &all[n]);
  EXPECT_TRUE(chain.empty());
  EXPECT_EQ(chain.take(), nullptr);
}

}  // namespace
}  // namespace tartan::detail
