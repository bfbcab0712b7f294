#include <tartan/core/per_worker.h>

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <tartan/core/post.h>
#include <tartan/core/yield.h>

#include "core/coroutine_fixture.h"

namespace tartan {
namespace {

class per_worker_values : public test::coroutines {};
INSTANTIATE_TEST_SUITE_P(on, per_worker_values, testing::ValuesIn(test::worker_counts()), test::worker_name);

TEST_P(per_worker_values, are_used_without_a_lock_and_folded_afterwards) {
  per_worker<std::uint64_t> hits{rt(), 0};
  for (int n = 0; n < 100; ++n) {
    rt().post(color{n}, [&] { ++hits.local(); });
    spawn_in(rt(), color{1000 + n}, [&]() -> task<> {
      ++hits.local();
      co_await yield();
      ++hits.local();
    });
  }
  run();
  EXPECT_EQ(hits.fold(std::uint64_t{0}, [](std::uint64_t sum, std::uint64_t each) { return sum + each; }), 300u);
  std::size_t count = 0;
  hits.for_each([&](std::uint64_t&) { ++count; });
  EXPECT_EQ(count, rt().workers());
}

TEST_P(per_worker_values, are_all_made_from_the_same_arguments_and_destroyed) {
  std::atomic<int> alive{0};
  {
    per_worker<test::counted> all{rt(), test::counted{alive}};
    EXPECT_EQ(alive.load(), static_cast<int>(rt().workers()));
  }
  EXPECT_EQ(alive.load(), 0);
  struct throws_second {
    explicit throws_second(int* const& made) {
      if (++*made == 2) throw std::runtime_error{"second"};
    }
  };
  if (rt().workers() > 1) {
    int made = 0;
    EXPECT_THROW((per_worker<throws_second>{rt(), &made}), std::runtime_error);
  }
}

TEST(per_worker_values_used_wrongly, end_the_program) {
  options with;
  with.workers = 1;
  EXPECT_DEATH(
      {
        runtime rt{with};
        per_worker<int> values{rt};
        values.local() = 1;
      },
      "per_worker::local was called outside of the events of its runtime, at .*per_worker_test");
  EXPECT_DEATH(
      {
        runtime rt{with};
        per_worker<int> values{rt};
        rt.post([&] { values.for_each([](int&) {}); });
        rt.run_until_idle();
      },
      "a per_worker was folded inside an event, where other workers use it, at .*per_worker_test");
}

}  // namespace
}  // namespace tartan
