#include "core/frame_pool.h"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <iostream>
#include <memory>
#include <span>
#include <tartan/core/on.h>
#include <tartan/core/result.h>
#include <tartan/core/task.h>
#include <tartan/core/yield.h>
#include <vector>

#include "core/coroutine_fixture.h"

namespace tartan {
namespace {

using detail::frame_pool;

TEST(sizes_of_frames, fall_into_classes_that_lose_at_most_a_fifth_beyond_one_line) {
  std::size_t last = 0;
  for (std::size_t bytes = 1; bytes <= frame_pool::largest_bytes; ++bytes) {
    const std::size_t in = frame_pool::class_of(bytes);
    ASSERT_LT(in, frame_pool::classes);
    ASSERT_GE(frame_pool::bytes_of(in), bytes);
    ASSERT_TRUE(in == last || in == last + 1) << bytes;
    ASSERT_EQ(frame_pool::bytes_of(in) % 64, 0u);
    ASSERT_LE(frame_pool::bytes_of(in) - bytes, 63 + bytes / 4) << bytes;
    last = in;
  }
  EXPECT_EQ(last, frame_pool::classes - 1);
  EXPECT_EQ(frame_pool::group_of(0), 64u);
  EXPECT_EQ(frame_pool::group_of(frame_pool::classes - 1), 8u);
}

class frames : public test::coroutines {};
INSTANTIATE_TEST_SUITE_P(on, frames, testing::ValuesIn(test::worker_counts()), test::worker_name);

TEST_P(frames, may_be_made_in_one_place_and_freed_in_another) {
  std::vector<std::pair<void*, std::size_t>> made_outside;
  for (std::size_t bytes = 1; bytes < 10'000; bytes = bytes * 3 / 2 + 1) made_outside.emplace_back(detail::allocate_frame(bytes), bytes);
  std::vector<std::pair<void*, std::size_t>> made_inside;
  rt().post([&] {
    for (int round = 0; round < 300; ++round) {
      const std::size_t bytes = static_cast<std::size_t>(round) * 37 % 9000 + 1;
      void* const frame = detail::allocate_frame(bytes);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(frame) % 64, 0u);
      std::memset(frame, 0xee, bytes);
      made_inside.emplace_back(frame, bytes);
    }
    for (const auto& [frame, bytes] : made_outside) detail::free_frame(frame, bytes);
  });
  run();
  EXPECT_GT(rt().state().frames().live(), 0);
  for (const auto& [frame, bytes] : made_inside) detail::free_frame(frame, bytes);
  EXPECT_EQ(rt().state().frames().live(), 0);
}

/// What was freed on one thread is used up on others before the system is asked for more.
TEST_P(frames, take_no_more_from_the_system_although_others_free_them_than_make_them) {
  frame_pool& pool = rt().state().frames();
  using blocks = std::vector<std::pair<void*, std::size_t>>;
  const auto make = [&pool](blocks& made) {
    for (const std::size_t bytes : {100u, 1000u, 8000u}) {
      for (unsigned n = 0; n < 200; ++n) {
        made.emplace_back(pool.allocate(bytes), bytes);
        std::memset(made.back().first, 0xee, bytes);
      }
    }
  };
  const auto free_all = [&pool](blocks& made) {
    for (const auto& [block, bytes] : made) pool.release(block, bytes);
    made.clear();
  };
  for (unsigned round = 0; round < test::rounds(50); ++round) {
    blocks from_outside;
    blocks from_inside;
    make(from_outside);
    rt().post(color{round}, [&] {
      make(from_inside);
      free_all(from_outside);
    });
    run();
    free_all(from_inside);
  }
  // Both have less than 2 MiB in use at once. Besides, each cache keeps two groups of each size, and the rest of an area.
  EXPECT_LE(pool.system_bytes(), (2 * 2 + 2 * (rt().workers() + 1)) << 20);
  EXPECT_EQ(pool.live(), 0);
}

TEST_P(frames, flow_back_to_the_worker_that_makes_them) {
  std::atomic<int> ended{0};
  for (int round = 0; round < 20; ++round) {
    spawn_in(rt(), color{1}, [&]() -> task<> {
      for (int n = 0; n < 200; ++n) {
        spawn_in(color{10 + n}, [&]() -> task<> {
          co_await on(color{500 + ended.load() % 5});
          ++ended;
        });
      }
      co_return;
    });
    run();
  }
  EXPECT_EQ(ended.load(), 4000);
  EXPECT_EQ(rt().state().frames().live(), 0);
}

// --- the frame of an echo coroutine ---------------------------------------------------------------------------------

std::size_t measured_bytes = 0;

/// A task in all but that it tells how large its frame is.
struct measured {
  struct promise_type : detail::promise_base {
    static void* operator new(std::size_t bytes) {
      measured_bytes = bytes;
      return detail::allocate_frame(bytes);
    }
    static void operator delete(void* frame, std::size_t bytes) noexcept { detail::free_frame(frame, bytes); }
    measured get_return_object() noexcept { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
    void unhandled_exception() noexcept {}
    void return_void() noexcept { result.emplace(); }
    detail::outcome<void> result;
  };
  std::coroutine_handle<promise_type> coroutine;
};
static_assert(sizeof(measured::promise_type) == sizeof(task<>::promise_type));

/// What an operation on a stream needs: where it is queued, its buffer, its outcome.
struct stream {
  struct transfer final : detail::operation {
    transfer(stream& s, std::span<const std::byte> b) noexcept : of{&s}, buffer{b} {}
    [[nodiscard]] bool await_ready() const noexcept { return false; }
    template <detail::colored_promise Promise>
    bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
      return self.promise().in().wait(self, *this);
    }
    result<std::size_t> await_resume() noexcept { return error ? result<std::size_t>{error} : result<std::size_t>{buffer.size()}; }

    stream* of;
    transfer* next = nullptr;
    std::span<const std::byte> buffer;
    std::error_code error;
  };
  transfer read_some(std::span<std::byte> into) noexcept { return {*this, into}; }
  transfer write(std::span<const std::byte> from) noexcept { return {*this, from}; }
  void* state = nullptr;
};

measured echo(stream peer) {
  std::array<std::byte, 4096> buffer;
  while (auto got = co_await peer.read_some(buffer)) {
    if (!co_await peer.write(std::span{buffer}.first(*got))) co_return;
  }
}

TEST(the_frame_of_an_echo_coroutine, takes_less_than_half_a_kilobyte_besides_its_buffer) {
  measured (*volatile call)(stream) = &echo;  // or the compiler sees that the frame does not escape, and makes none
  const measured made = call(stream{});
  made.coroutine.destroy();
  ASSERT_GE(measured_bytes, 4096u);
  const std::size_t besides = measured_bytes - 4096;
  RecordProperty("bytes_besides_the_buffer", static_cast<int>(besides));
  RecordProperty("bytes_of_the_promise", static_cast<int>(sizeof(task<>::promise_type)));
  std::cout << "frame of an echo coroutine: " << measured_bytes << " bytes, " << besides << " of them besides its buffer; promise "
            << sizeof(task<>::promise_type) << ", root " << sizeof(detail::root_of<void>) << " bytes\n";
  EXPECT_LE(besides, 512u);
  EXPECT_LE(sizeof(task<>::promise_type), 40u);
}

}  // namespace
}  // namespace tartan
