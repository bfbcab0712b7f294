// What races with close, or means another's descriptor by then, is refused outside of the object's color.

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <tartan/core/post.h>
#include <tartan/io/local.h>
#include <tartan/io/udp.h>

#include "io/object_fixture.h"

namespace tartan {
namespace {

using test::here_color;

class objects_in_another_color : public test::with_objects {
 protected:
  std::array<std::byte, 8> room_{};
};
INSTANTIATE_TEST_SUITE_P(on, objects_in_another_color, testing::Values(1u), test::worker_name);

TEST_P(objects_in_another_color, end_the_program_when_they_are_told_to_send_no_more) {
  EXPECT_DEATH(
      {
        auto both = local::pair(rt(), here_color, here_color);
        rt().post(color{8}, [&] { static_cast<void>(both->first.shutdown_send()); });
        rt().run_until_idle();
      },
      "wrong_color_test.cpp");
}

TEST_P(objects_in_another_color, end_the_program_when_they_are_connected) {
  EXPECT_DEATH(
      {
        auto one = udp::try_bind(rt(), address::loopback(0), {.color = here_color});
        rt().post(color{8}, [&] { static_cast<void>(one->connect(*one->local_address())); });
        rt().run_until_idle();
      },
      "wrong_color_test.cpp");
}

TEST_P(objects_in_another_color, are_asked_for_addresses_and_options_by_whoever_has_them) {
  auto one = udp::try_bind(rt(), address::loopback(0), {.color = here_color});
  rt().post(color{8}, [&] {
    EXPECT_NE(one->local_address()->port(), 0);
    EXPECT_TRUE(one->set_receive_buffer(20'000));
  });
  rt().run_until_idle();
}

// Its operations would run at the same time.
TEST_P(objects_in_another_color, cannot_be_unordered) {
  EXPECT_DEATH(static_cast<void>(local::pair(rt(), color::unordered, here_color)), "a descriptor cannot be in color::unordered");
  EXPECT_DEATH(
      {
        rt().post(color::unordered, [this] { static_cast<void>(local::pair(rt(), color::unordered, here_color)); });
        rt().run_until_idle();
      },
      "wrong_color_test.cpp");
}

// The same number in another runtime is another color.
TEST_P(objects_in_another_color, belong_to_one_runtime) {
  EXPECT_DEATH(
      {
        auto both = local::pair(rt(), here_color, here_color);
        runtime other{{.workers = 1}};
        other.post(here_color, [&] { both->first.read_some(room_, [](const result<std::size_t>&) {}); });
        other.run_until_idle();
      },
      "was begun in another runtime, at .*wrong_color_test.cpp");
}

TEST(objects_outside_of_events, end_the_program_when_they_are_used) {
  std::array<std::byte, 8> room{};
  EXPECT_DEATH(
      {
        options with{.workers = 1};
        local::stream* one = nullptr;
        with.on_worker_start = [&](unsigned /*worker*/) { one->read_some(room, [](const result<std::size_t>&) {}); };
        runtime rt{with};
        auto both = local::pair(rt, color{}, color{});
        one = &both->first;
        rt.run_until_idle();
      },
      "was begun outside of any event, at .*wrong_color_test.cpp");
}

}  // namespace
}  // namespace tartan
