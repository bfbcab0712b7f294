// Contract 6: two colors never serialize each other.
//
// Each test is a rendezvous: an event that ends only when another one has begun, which would wait for ever if one of them had to
// wait for the other's end.

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <tartan/core/post.h>
#include <tartan/core/runtime.h>
#include <tartan/core/strand.h>
#include <vector>

#include "tests/workers.h"

namespace tartan {
namespace {

class isolation : public test::on_workers {};

struct rendezvous {
  std::atomic<unsigned> arrived{0};
  void meet() {
    const unsigned target = arrived.fetch_add(1) / 2 * 2 + 2;
    test::spin_until([&] { return arrived.load() >= target; });
  }
};

void expect_parallel(runtime& rt, color a, color b) {
  rendezvous both;
  rt.post(a, [&] { both.meet(); });
  rt.post(b, [&] { both.meet(); });
  rt.run_until_idle();
  EXPECT_EQ(both.arrived.load(), 2u);
  rt.post(color{1} == a ? color{2} : color{1}, [&] {  // the same, made on one worker
    rt.post(a, [&] { both.meet(); });
    rt.post(b, [&] { both.meet(); });
  });
  rt.run_until_idle();
  EXPECT_EQ(both.arrived.load(), 4u);
}

TEST_P(isolation, colors_whose_low_bits_are_equal_run_in_parallel) {
  runtime rt{settings()};
  for (const unsigned bit : {5u, 10u, 12u, 16u, 32u, 44u, 62u}) {
    expect_parallel(rt, color{12345}, color{12345 + (std::uint64_t{1} << bit)});
  }
}

TEST_P(isolation, colors_that_meet_in_one_bucket_of_a_hash_table_run_in_parallel) {
  runtime rt{settings()};
  const auto bucket = [](std::uint64_t n) { return detail::mix(n) % 1024; };
  std::uint64_t other = 2;
  while (bucket(other) != bucket(1)) ++other;
  expect_parallel(rt, color{1}, color{other});
}

TEST_P(isolation, the_default_color_does_not_serialize_another) {
  runtime rt{settings()};
  expect_parallel(rt, color{}, color{7});
}

TEST_P(isolation, strands_serialize_neither_each_other_nor_a_color) {
  runtime rt{settings()};
  strand first{rt, "first"};
  strand second{rt, "second"};
  expect_parallel(rt, first, second);
  expect_parallel(rt, first, color{3});
  expect_parallel(rt, second, color{});
}

TEST_P(isolation, unordered_events_run_in_parallel_with_each_other) {
  runtime rt{settings()};
  expect_parallel(rt, color::unordered, color::unordered);
  expect_parallel(rt, color::unordered, color{1});
}

TEST_P(isolation, as_many_colors_as_there_are_workers_run_at_once) {
  runtime rt{settings()};
  std::atomic<unsigned> arrived{0};
  for (unsigned n = 0; n < GetParam(); ++n) {
    rt.post(color{n * 1024 + 1}, [&] {
      arrived.fetch_add(1);
      test::spin_until([&] { return arrived.load() >= GetParam(); });
    });
  }
  rt.run_until_idle();
  EXPECT_EQ(arrived.load(), GetParam());
}

INSTANTIATE_TEST_SUITE_P(workers, isolation, testing::ValuesIn(test::several_workers()), test::worker_name);

}  // namespace
}  // namespace tartan
