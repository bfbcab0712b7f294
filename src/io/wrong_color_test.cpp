// What races with close, or means another's descriptor by then, is refused outside of the object's color.

#include <gtest/gtest.h>

#include <tartan/core/post.h>
#include <tartan/io/local.h>
#include <tartan/io/udp.h>

#include "io/object_fixture.h"

namespace tartan {
namespace {

using test::here_color;

using objects_in_another_color = test::with_objects;
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

}  // namespace
}  // namespace tartan
