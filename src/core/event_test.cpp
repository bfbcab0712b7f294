#include <tartan/core/event.h>

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <tartan/core/post.h>
#include <tartan/core/runtime.h>
#include <utility>

#include "core/runtime_state.h"

namespace tartan::detail {
namespace {

options one_worker() {
  options with;
  with.workers = 1;
  return with;
}

/// A callable of so many bytes that counts its copies and calls.
template <std::size_t Bytes, bool ThrowsOnMove = false>
struct sized {
  struct counts {
    int live = 0;
    int calls = 0;
  };
  counts* into;
  std::array<unsigned char, Bytes - sizeof(counts*)> filling{};

  explicit sized(counts& c) : into{&c} {
    ++into->live;
    filling.fill(0xa5);
  }
  sized(sized&& other) noexcept(!ThrowsOnMove) : into{other.into}, filling{other.filling} { ++into->live; }
  sized(const sized& other) : into{other.into}, filling{other.filling} { ++into->live; }
  ~sized() { --into->live; }
  void operator()() const {
    ++into->calls;
    for (const unsigned char each : filling) EXPECT_EQ(each, 0xa5);
  }
};

template <class F>
void runs_and_is_destroyed_once() {
  typename F::counts counts;
  {
    runtime rt{one_worker()};
    rt.post(F{counts});
    EXPECT_EQ(counts.live, 1);
    rt.run_until_idle();
    EXPECT_EQ(counts.calls, 1);
    EXPECT_EQ(counts.live, 0);
    rt.post(color{1}, F{counts});
  }
  EXPECT_EQ(counts.calls, 1);
  EXPECT_EQ(counts.live, 0);
}

TEST(event, holds_a_callable_of_any_size) {
  runs_and_is_destroyed_once<sized<16>>();
  runs_and_is_destroyed_once<sized<40>>();
  runs_and_is_destroyed_once<sized<48>>();
  runs_and_is_destroyed_once<sized<10'000>>();
  runs_and_is_destroyed_once<sized<16, true>>();
}

TEST(event, keeps_a_callable_that_fits_within_its_cache_line) {
  static_assert(fits_event<sized<40>>);
  static_assert(!fits_event<sized<48>>);
  static_assert(!fits_event<sized<16, true>>, "moving it into place may throw when nobody can be told");
  static_assert(sizeof(event) == 64 && alignof(event) == 64);
}

TEST(event, keeps_the_alignment_that_a_callable_asks_for) {
  struct alignas(128) aligned {
    bool* right;
    void operator()() const { *right = reinterpret_cast<std::uintptr_t>(this) % 128 == 0; }
  };
  runtime rt{one_worker()};
  bool right = false;
  rt.post(aligned{&right});
  rt.run_until_idle();
  EXPECT_TRUE(right);
}

TEST(event, holds_a_callable_that_cannot_be_copied) {
  runtime rt{one_worker()};
  int got = 0;
  rt.post([&got, kept = std::make_unique<int>(42)] { got = *kept; });
  rt.run_until_idle();
  EXPECT_EQ(got, 42);
}

TEST(event, calls_a_function_pointer) {
  static int calls;
  calls = 0;
  runtime rt{one_worker()};
  void (*const function)() = [] { ++calls; };
  rt.post(function);
  rt.run_until_idle();
  EXPECT_EQ(calls, 1);
}

template <std::size_t Bytes>
struct fails_to_copy {
  int* live;
  std::array<char, Bytes> filling{};
  explicit fails_to_copy(int& count) : live{&count} { ++*live; }
  fails_to_copy(const fails_to_copy& /*other*/) : live{nullptr} { throw std::runtime_error{"cannot be copied"}; }
  ~fails_to_copy() { --*live; }
  void operator()() const {}
};

/// Free lines are handed out last in, first out: what was lost would not come again.
template <std::size_t Bytes>
void a_constructor_that_throws_leaks_nothing() {
  runtime rt{one_worker()};
  int live = 0;
  rt.post([&] {
    const fails_to_copy<Bytes> callable{live};
    event* const next = new_event(rt.state());
    free_event(rt.state(), *next);
    EXPECT_THROW(post(color{1}, callable), std::runtime_error);
    EXPECT_THROW(rt.post(callable), std::runtime_error);
    event* const after = new_event(rt.state());
    EXPECT_EQ(after, next);
    free_event(rt.state(), *after);
    EXPECT_EQ(live, 1);
  });
  rt.run_until_idle();
  EXPECT_EQ(live, 0);
  EXPECT_EQ(rt.counters().events, 1u);
}

TEST(event, is_given_back_if_the_callables_constructor_throws) {
  a_constructor_that_throws_leaks_nothing<1>();
  a_constructor_that_throws_leaks_nothing<100>();
}

TEST(event, destroys_its_callable_before_the_next_event_of_its_color_begins) {
  runtime rt{one_worker()};
  bool destroyed = false;
  bool was_destroyed = false;
  struct at_end {
    bool* flag;
    explicit at_end(bool& f) : flag{&f} {}
    at_end(at_end&& other) noexcept : flag{std::exchange(other.flag, nullptr)} {}
    ~at_end() {
      if (flag != nullptr) *flag = true;
    }
    void operator()() const {}
  };
  rt.post(at_end{destroyed});
  rt.post([&] { was_destroyed = destroyed; });
  rt.run_until_idle();
  EXPECT_TRUE(was_destroyed);
}

TEST(event, may_post_from_the_destructor_of_its_callable) {
  runtime rt{one_worker()};
  int ran = 0;
  struct parting {
    int* ran;
    explicit parting(int& r) : ran{&r} {}
    parting(parting&& other) noexcept : ran{std::exchange(other.ran, nullptr)} {}
    ~parting() {
      if (ran != nullptr) post(current_color(), [r = ran] { ++*r; });
    }
    void operator()() const {}
  };
  rt.post(color{3}, parting{ran});
  rt.run_until_idle();
  EXPECT_EQ(ran, 1);
}

}  // namespace
}  // namespace tartan::detail
