// Edges that come too late: for what was open before in the same slot, or under the same number.

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <tartan/core/yield.h>
#include <tartan/io/tcp.h>
#include <utility>
#include <vector>

#include "core/lifecycle.h"
#include "core/runtime_state.h"
#include "io/service.h"
#include "io/stream_pair.h"

namespace tartan {
namespace {

using test::here_color;
using test::stream_pair;

/// Sees which slot an object has.
struct slot_of : tcp::stream {
  static detail::io_slot* in(const tcp::stream& s) { return (s.*&slot_of::key)().slot; }
};

/// A read that waits at the near end.
struct waiting_read {
  explicit waiting_read(stream_pair& of) {
    of.near.read_some(room, [this](const result<std::size_t>& came) { got = came; });
  }
  std::array<std::byte, 8> room{};
  std::optional<result<std::size_t>> got{};
};

class descriptors_that_are_used_again : public test::with_objects_on_either {};
INSTANTIATE_TEST_SUITE_P(on, descriptors_that_are_used_again, testing::ValuesIn(test::both_machines()), test::place_name);

// As if a worker had harvested it before the close, and been held up since.
TEST_P(descriptors_that_are_used_again, are_not_touched_by_an_edge_of_what_was_open_in_their_slot) {
  world_with.partial_percent = 0;
  in_color([&]() -> task<> {
    using bits = detail::readiness<detail::real_memory>;
    auto first = stream_pair::make();
    detail::io_slot* const slot = slot_of::in(first->near);
    detail::io_service& service = slot->service();
    const std::uint64_t mark = detail::io_service::mark_of(*slot);
    first.reset();
    std::vector<std::unique_ptr<stream_pair>> later;
    do {
      later.push_back(stream_pair::make());
      if (slot_of::in(later.back()->far) == slot) std::swap(later.back()->near, later.back()->far);
    } while (slot_of::in(later.back()->near) != slot);
    stream_pair& again = *later.back();
    waiting_read reading{again};
    EXPECT_FALSE(service.ready(mark, bits::in | bits::out | bits::hung_up));
    co_await yield();
    EXPECT_FALSE(reading.got);
    EXPECT_FALSE(slot->hung_up());
    EXPECT_FALSE(slot->may_try(detail::flow::in));
    again.feed("x");
    co_await until([&] { return reading.got.has_value(); });
    EXPECT_EQ(reading.got->value(), 1u);
  });
}

class descriptors_of_the_kernel : public test::with_objects {};
INSTANTIATE_TEST_SUITE_P(on, descriptors_of_the_kernel, testing::ValuesIn(test::worker_counts()), test::worker_name);

// The edge is harvested, its event is queued; before that one runs, the descriptor is closed, and its number is another one's.
TEST_P(descriptors_of_the_kernel, are_not_touched_by_the_event_of_what_had_their_number) {
  in_color([&]() -> task<> {
    detail::runtime_state& state = rt().state();
    auto first = stream_pair::make();
    waiting_read ended{*first};
    const int number = first->near.native_handle();
    first->feed("old");
    static_cast<void>(state.life().look(*state.worker_here()));  // unless another worker has harvested it
    first->near.close();
    const auto again = stream_pair::make();
    EXPECT_EQ(again->near.native_handle(), number);
    waiting_read reading{*again};
    co_await until([&] { return ended.got.has_value(); });
    EXPECT_EQ(ended.got->error(), errc::closed);
    co_await yield();
    EXPECT_FALSE(reading.got);
    again->feed("new");
    co_await until([&] { return reading.got.has_value(); });
    EXPECT_EQ(reading.got->value(), 3u);
  });
}

}  // namespace
}  // namespace tartan
