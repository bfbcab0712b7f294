// What holds wherever readiness comes from.

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <thread>
#include <type_traits>
#include <vector>

#include "core/clock.h"
#include "core/sleep/poller.h"
#include "io/epoll/epoll_source.h"
#include "io/select/select_source.h"
#include "io/source_fixture.h"
#include "tests/workers.h"

namespace tartan::detail {
namespace {

using test::notebook;
using test::watched_wire;
using test::wire;
using ended_by = readiness_source::ended_by;

// One report is to come. Edges come by themselves.
void rearm(epoll_source& /*source*/, int /*descriptor*/) {}
void rearm(select_source& source, int descriptor) { source.want(descriptor, flow::in); }

template <class Source>
struct sources : testing::Test {
  Source source{5};
};
using both = testing::Types<epoll_source, select_source>;
TYPED_TEST_SUITE(sources, both);

TYPED_TEST(sources, keep_what_ended_a_wait_until_it_is_delivered) {
  notebook book{this->source};
  const watched_wire a{this->source, 7};
  rearm(this->source, a.ends[0]);
  a.send();
  EXPECT_EQ(this->source.wait(0, never_ns), ended_by::readiness);
  EXPECT_TRUE(book.in.empty());
  this->source.deliver(0);
  EXPECT_EQ(book.in[7], 1);
  this->source.deliver(0);
  EXPECT_EQ(book.in[7], 1);
}

TYPED_TEST(sources, end_a_wait_by_a_call_that_comes_before_or_during_it) {
  this->source.call();
  this->source.call();
  EXPECT_EQ(this->source.wait(0, never_ns), ended_by::call);
  EXPECT_EQ(this->source.wait(0, 0), ended_by::time);
  std::thread caller{[&] { this->source.call(); }};
  EXPECT_EQ(this->source.wait(0, never_ns), ended_by::call);
  caller.join();
}

TYPED_TEST(sources, wait_no_shorter_than_they_are_told) {
  for (const std::uint64_t ns : {1ull, 300'000ull, 2'000'001ull}) {
    const std::uint64_t begin = real_now_ns();
    EXPECT_EQ(this->source.wait(0, ns), ended_by::time);
    EXPECT_GE(real_now_ns() - begin, ns);
  }
}

/// Takes what there is, and waits again, as a slot does.
template <class Source>
struct reader final : readiness_ledger {
  explicit reader(Source& by) : source{by} {}
  bool ready(std::uint64_t mark, std::uint32_t /*bits*/) noexcept override {
    ++reports;
    const int from = wires[mark].ends[0];
    char byte = 0;
    while (::read(from, &byte, 1) == 1) ++got[mark];
    rearm(source, from);
    return true;
  }
  Source& source;
  std::atomic<unsigned> reports{0};
  std::array<wire, 8> wires;
  std::array<std::atomic<unsigned>, 8> got{};
};

// Four threads take turns at sleeping, and one looks, while another one sends. An edge comes once; of levels, one that was late may tell
// again what another has told.
TYPED_TEST(sources, lose_nothing_among_many_sleepers) {
  constexpr unsigned rounds = 1000;
  reader<TypeParam> all{this->source};
  this->source.report_to(all);
  for (std::size_t n = 0; n < all.wires.size(); ++n) {
    ASSERT_EQ(this->source.watch(all.wires[n].ends[0], n), 0);
    rearm(this->source, all.wires[n].ends[0]);
  }
  std::atomic<bool> over{false};
  std::vector<std::thread> threads;
  for (unsigned worker = 0; worker < 4; ++worker) {
    threads.emplace_back([&, worker] {
      while (!over.load()) {
        static_cast<void>(this->source.wait(worker, never_ns));
        this->source.deliver(worker);
      }
      this->source.call();  // the next one
    });
  }
  for (unsigned round = 0; round < rounds; ++round) {
    const std::size_t which = round % all.wires.size();
    all.wires[which].send();
    if (round % 3 == 0) static_cast<void>(this->source.harvest(4));
    test::spin_until([&] { return all.got[which].load() == round / all.wires.size() + 1; });
  }
  over.store(true);
  this->source.call();
  for (std::thread& each : threads) each.join();
  if (std::is_same_v<TypeParam, epoll_source>) {
    EXPECT_EQ(all.reports.load(), rounds);
  }
}

}  // namespace
}  // namespace tartan::detail
