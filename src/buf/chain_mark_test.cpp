#include <tartan/buf/chain.h>

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace tartan::buf {
namespace {

class marked_chain : public testing::Test {
 protected:
  void mark(chain& in, int n) {
    in.mark([this, n] { called.push_back(n); });
  }
  using calls = std::vector<int>;
  calls called;
};

TEST_F(marked_chain, calls_in_order_when_everything_before_has_left) {
  chain out;
  out.append("abc");
  mark(out, 1);
  mark(out, 2);
  out.append("def");
  mark(out, 3);
  out.drop(2);
  EXPECT_EQ(called, calls{});
  out.drop(1);
  EXPECT_EQ(called, (calls{1, 2}));
  EXPECT_EQ(out.take_slice(3), "def");
  EXPECT_EQ(called, (calls{1, 2, 3}));
}

TEST_F(marked_chain, calls_what_was_marked_when_it_was_empty_at_the_next_drop) {
  chain out;
  mark(out, 1);
  EXPECT_EQ(called, calls{});
  out.drop(0);
  EXPECT_EQ(called, calls{1});
}

TEST_F(marked_chain, takes_marks_along_with_the_bytes_before_them) {
  chain out;
  out.append("x");
  out.drop(1);  // so that positions do not begin at 0
  out.append("abc");
  mark(out, 1);
  out.append("def");
  mark(out, 2);
  chain taken = out.take(3);
  out.drop(3);
  EXPECT_EQ(called, calls{2});
  taken.drop(2);
  EXPECT_EQ(called, calls{2});
  chain all;
  all.append("123");
  mark(all, 3);
  all.append(std::move(taken));
  mark(all, 4);
  all.drop(3);
  EXPECT_EQ(called, (calls{2, 3}));
  all.drop(1);
  EXPECT_EQ(called, (calls{2, 3, 1, 4}));
}

TEST_F(marked_chain, may_be_filled_marked_dropped_and_replaced_by_its_marks) {
  chain out;
  out.append("abc");
  out.mark([&] {
    mark(out, 2);  // nothing is before it: at the next drop
    out.append("def");
    called.push_back(0);
  });
  mark(out, 1);
  out.drop(3);
  EXPECT_EQ(called, (calls{0, 1}));
  out.mark([&] {
    out.append("x");
    out.drop(1);  // calls the next one
    called.push_back(4);
  });
  mark(out, 3);
  out.append("def");
  out.drop(3);
  EXPECT_EQ(called, (calls{0, 1, 2, 3, 4}));
  EXPECT_EQ(out.to_string(), "efx");

  called.clear();
  out.mark([&] { out = chain{}; });
  mark(out, 3);
  out.drop(3);
  EXPECT_EQ(called, calls{}) << "it was replaced, with its marks";
}

TEST_F(marked_chain, is_not_held_up_by_a_mark_that_marks_again) {
  chain out;
  struct again {
    chain& out;
    int& turns;
    void operator()() const {
      ++turns;
      out.mark(again{out, turns});
    }
  };
  int turns = 0;
  out.mark(again{out, turns});
  out.drop(0);
  EXPECT_EQ(turns, 1);
  out.drop(0);
  EXPECT_EQ(turns, 2);
}

TEST_F(marked_chain, calls_the_rest_later_when_a_mark_throws) {
  chain out;
  out.append("a");
  out.mark([] { throw std::runtime_error{"from a mark"}; });
  mark(out, 1);
  EXPECT_THROW(out.drop(1), std::runtime_error);
  EXPECT_TRUE(out.empty());
  EXPECT_EQ(called, calls{});
  out.drop(0);
  EXPECT_EQ(called, calls{1});
}

TEST_F(marked_chain, calls_no_mark_of_what_it_was_replaced_by_before_its_bytes_have_left) {
  chain out;
  out.append("abcdef");
  out.mark([&] {
    out = chain{};
    out.append("x");
    mark(out, 1);
    called.push_back(0);
  });
  mark(out, 2);
  out.drop(6);
  EXPECT_EQ(called, calls{0}) << "its byte is still there";
  out.drop(1);
  EXPECT_EQ(called, (calls{0, 1}));
}

/// With a mark, 1, that is still to be called although its bytes have left.
chain after_a_throw(const std::function<void(chain&, int)>& mark) {
  chain out;
  out.append("abc");
  out.mark([] { throw std::runtime_error{"from a mark"}; });
  mark(out, 1);
  out.append("more");
  EXPECT_THROW(out.drop(out.size()), std::runtime_error);
  return out;
}

TEST_F(marked_chain, takes_a_mark_along_that_a_throw_has_held_up) {
  const auto put = [this](chain& in, int n) { mark(in, n); };
  chain out = after_a_throw(put);
  out.append("def");
  mark(out, 2);
  chain taken = out.take(2);
  EXPECT_EQ(called, calls{});
  taken.drop(1);
  EXPECT_EQ(called, calls{1});
  out.drop(1);
  EXPECT_EQ(called, (calls{1, 2}));
}

TEST_F(marked_chain, takes_over_a_mark_that_a_throw_has_held_up) {
  const auto put = [this](chain& in, int n) { mark(in, n); };
  chain all;
  all.append(after_a_throw(put));
  all.append("def");
  mark(all, 2);
  all.drop(1);
  EXPECT_EQ(called, calls{1});
  all.drop(2);
  EXPECT_EQ(called, (calls{1, 2}));

  called.clear();
  all.append("ghi");
  mark(all, 0);
  all.append(after_a_throw(put));
  mark(all, 2);
  all.drop(2);
  EXPECT_EQ(called, calls{}) << "one comes before it";
  all.drop(1);
  EXPECT_EQ(called, (calls{0, 1, 2}));
}

TEST_F(marked_chain, destroys_marks_that_it_has_not_reached_without_a_call) {
  const auto owned = std::make_shared<int>(0);
  {
    chain out;
    out.append("abc");
    for (int n = 0; n < 100'000; ++n) out.mark([owned] { ++*owned; });
    EXPECT_EQ(owned.use_count(), 100'001);
  }
  EXPECT_EQ(owned.use_count(), 1);
  EXPECT_EQ(*owned, 0);
}

}  // namespace
}  // namespace tartan::buf
