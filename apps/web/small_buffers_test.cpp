/// Responses of which only a part goes at once: each byte tells where it stands.
#include <tartan/core/spawn.h>

#include <cerrno>
#include <charconv>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "web/server_fixture.h"
#include "tests/web/failing_disk.h"

namespace web {
namespace {

using test::heard;
using test::placed_text;
using test::rest_of;
using test::send;

class a_server_of_small_buffers : public test::a_server {
 protected:
  a_server_of_small_buffers() {
    write("kept", kept_);
    write("large", large_);
  }

  [[nodiscard]] static std::string get(std::string_view path, std::string_view lines) {
    return std::string{"GET "}.append(path).append(" HTTP/1.1\r\nHost: x\r\n").append(lines).append("\r\n");
  }

  /// Of responses one behind the other, as far as they are whole.
  [[nodiscard]] static std::vector<std::string> bodies_of(std::string_view text) {
    std::vector<std::string> bodies;
    for (;;) {
      const std::size_t head = text.find("\r\n\r\n");
      const std::size_t length = text.find("Content-Length: ");
      if (head == std::string_view::npos || length > head) return bodies;
      std::size_t bytes = 0;
      static_cast<void>(std::from_chars(text.data() + length + 16, text.data() + head, bytes));
      text.remove_prefix(head + 4);
      if (text.size() < bytes) return bodies;
      bodies.emplace_back(text.substr(0, bytes));
      text.remove_prefix(bytes);
    }
  }

  void expect_each_byte_with(std::size_t room) {
    network_.stream_buffer = room;
    play([&](tartan::tcp::stream& c, server&) -> tartan::task<> {
      auto sending = tartan::spawn_in(tartan::color{7}, send(c, get("/kept", "") + get("/large", "") + get("/kept", "Range: bytes=1000-40999\r\n") +
                                                                    get("/large", "Range: bytes=12345-267890\r\n") + get("/kept", "Connection: close\r\n")));
      const heard all = co_await rest_of(c);
      co_await sending.join();
      const std::vector<std::string> bodies = bodies_of(all.text);
      EXPECT_EQ(bodies.size(), 5u) << all.text.size() << " bytes, with room for " << room;
      if (bodies.size() != 5) co_return;
      EXPECT_TRUE(bodies[0] == kept_) << room;
      EXPECT_TRUE(bodies[1] == large_) << room;
      EXPECT_TRUE(bodies[2] == kept_.substr(1000, 40'000)) << room;
      EXPECT_TRUE(bodies[3] == large_.substr(12'345, 267'891 - 12'345)) << room;
      EXPECT_TRUE(bodies[4] == kept_) << room;
    });
  }

  const std::string kept_ = placed_text(60'000);    // in memory, from where the kernel sends it
  const std::string large_ = placed_text(large);    // on the disk
};
INSTANTIATE_TEST_SUITE_P(on, a_server_of_small_buffers, testing::Values(1u, 2u));

/// The sizes: less than a head; a head and some of its body; all of the page but less than what is worth the kernel's way; all.
TEST_P(a_server_of_small_buffers, sends_each_byte_once_wherever_room_ends) {
  for (const std::size_t room : {100u, 5'000u, 55'000u, 1'000'000u}) expect_each_byte_with(room);
}

TEST_P(a_server_of_small_buffers, sends_each_byte_once_if_the_disk_has_to_be_asked_for_them) {
  network_.partial_percent = 0;  // a write of a few bytes would have 64 KB read again, by another thread
  for (const std::size_t room : {5'000u, 55'000u, 1'000'000u}) {
    const test::failing_disk asked{test::disk_call::preadv2, EAGAIN, 1'000'000};
    expect_each_byte_with(room);
    EXPECT_GT(asked.calls(), 1u);
    EXPECT_LT(asked.calls(), 20 + 2 * (2 * large / room)) << "who waits for room asks again and again";
  }
  const std::pair<int, unsigned> cases[] = {{EAGAIN, 1}, {EAGAIN, 3}, {EOPNOTSUPP, 1'000'000}, {0, 1'000'000}};  // for some; once; for a half of each
  for (const auto& [error, times] : cases) {
    const test::failing_disk asked{test::disk_call::preadv2, error, times, 1};
    expect_each_byte_with(55'000);
  }
}

}  // namespace
}  // namespace web
