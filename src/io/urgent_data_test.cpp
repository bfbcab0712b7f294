#include <poll.h>
#include <sys/socket.h>
#include <tartan/core/post.h>
#include <tartan/io/tcp.h>
#include <unistd.h>

#include <array>

#include "io/object_fixture.h"
#include "tests/connected_socket.h"

namespace tartan {
namespace {

using test::here_color;

class urgent_data : public test::on_workers {
 protected:
  /// What a client says comes before it is accepted, or when the read waits.
  std::string heard(bool comes_first);
};
INSTANTIATE_TEST_SUITE_P(on, urgent_data, testing::ValuesIn(test::worker_counts()), test::worker_name);

std::string urgent_data::heard(bool comes_first) {
  runtime rt{settings()};
  tcp::listener door = tcp::listen(rt, address::loopback(0), {.color = here_color});
  const int peer = test::connected_to(*door.local_address());
  const auto speak = [peer] {
    EXPECT_EQ(::send(peer, "ab", 2, 0), 2);
    EXPECT_EQ(::send(peer, "!", 1, MSG_OOB), 1);
    EXPECT_EQ(::send(peer, "cd", 2, 0), 2);
  };
  if (comes_first) speak();
  std::string got;
  spawn_in(rt, here_color, [&]() -> task<> {
    auto stream = co_await door.accept(here_color);
    EXPECT_TRUE(stream);
    if (comes_first) {
      pollfd urgent{stream->native_handle(), POLLPRI, 0};
      EXPECT_EQ(::poll(&urgent, 1, -1), 1);
    } else {
      post(here_color, speak);
    }
    std::array<std::byte, 64> room{};
    while (got.size() < 4) {
      const auto read = co_await stream->read_some(room);
      if (!read) break;
      got.append(reinterpret_cast<const char*>(room.data()), *read);
    }
    door.close();
  }).detach();
  rt.run_until_idle();
  ::close(peer);
  return got;
}

// A read ends at the urgent byte, however much room there is: being short, it does not say that nothing is left.
TEST_P(urgent_data, does_not_hide_what_comes_behind_it) { EXPECT_EQ(heard(false), "abcd"); }

TEST_P(urgent_data, does_not_hide_what_has_come_behind_it_before_the_first_wait) { EXPECT_EQ(heard(true), "abcd"); }

}  // namespace
}  // namespace tartan
