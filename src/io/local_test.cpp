#include <tartan/io/local.h>

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <tartan/io/tcp.h>
#include <vector>

#include "io/object_fixture.h"
#include "tests/temporary_folder.h"

namespace tartan {
namespace {

using test::bytes_of;
using test::here_color;

/// A stream under test and its peer.
struct two_ends {
  local::stream near;
  local::stream far;
  std::array<std::byte, 64> room{};
  std::array<int, local::max_passed_descriptors> passed{};

  void close() { near.close(); }
  void cancel() { near.cancel(); }
  [[nodiscard]] bool is_open() const { return near.is_open(); }
};
std::unique_ptr<two_ends> make_ends() {
  auto made = local::pair();
  EXPECT_TRUE(made) << made.error().message();
  return std::unique_ptr<two_ends>{new two_ends{std::move(made->first), std::move(made->second)}};
}
/// Until nothing more fits.
void fill(const local::stream& s) {
  const std::string much(1 << 16, 'x');
  while (test::system_here().send(s.native_handle(), much.data(), much.size()) > 0) {
  }
}
void empty(const local::stream& s) {
  std::vector<char> much(1 << 20);
  while (test::system_here().receive(s.native_handle(), much.data(), much.size()) > 0) {
  }
}
void feed(two_ends& s) { EXPECT_GT(test::system_here().send(s.far.native_handle(), "ab", 2), 0); }

template <class Base>
class with_a_path : public Base {
 protected:
  [[nodiscard]] std::string path() const { return folder_ / "door"; }

 private:
  test::temporary_folder folder_;
};
class local_sockets : public with_a_path<test::with_objects_on_either> {};
INSTANTIATE_TEST_SUITE_P(on, local_sockets, testing::ValuesIn(test::both_machines()), test::place_name);
/// Where there are files, and descriptors from elsewhere.
class local_sockets_of_the_kernel : public with_a_path<test::with_objects> {};
INSTANTIATE_TEST_SUITE_P(on, local_sockets_of_the_kernel, testing::ValuesIn(test::worker_counts()), test::worker_name);

TEST_P(local_sockets, end_a_read_in_every_way) {
  ends_in_every_way(test::operation_under_test{
      [] { return make_ends(); }, [](two_ends& s) { return s.near.read_some(s.room); },
      [](two_ends& s, auto f) { s.near.read_some(s.room, std::move(f)); },
      [](two_ends& s) { feed(s); }});
}

TEST_P(local_sockets, end_a_receive_with_descriptors_in_every_way) {
  ends_in_every_way(test::operation_under_test{
      [] { return make_ends(); }, [](two_ends& s) { return s.near.receive_with(s.room, s.passed); },
      [](two_ends& s, auto f) { s.near.receive_with(s.room, s.passed, std::move(f)); },
      [](two_ends& s) { feed(s); }});
}

TEST_P(local_sockets, end_a_send_with_descriptors_in_every_way) {
  static constexpr std::array<int, 1> input{0};
  ends_in_every_way(test::operation_under_test{[&]() -> task<std::unique_ptr<two_ends>> {
                                                 auto made = make_ends();
                                                 fill(made->near);
                                                 co_await arrival();
                                                 co_return made;
                                               },
                                               [](two_ends& s) { return s.near.send_with(bytes_of("ab"), input); },
                                               [](two_ends& s, auto f) { s.near.send_with(bytes_of("ab"), input, std::move(f)); },
                                               [](two_ends& s) { empty(s.far); }});
}

TEST_P(local_sockets, end_an_accept_in_every_way) {
  struct door {
    local::listener at;
    std::shared_ptr<local::stream> peer = std::make_shared<local::stream>();  // may connect after the door is gone
    void close() { at.close(); }
    void cancel() { at.cancel(); }
    [[nodiscard]] bool is_open() const { return at.is_open(); }
  };
  int number = 0;
  ends_in_every_way(test::operation_under_test{
      [&] {
        const std::string name = "@tartan-test-" + std::to_string(::getpid()) + "-" + std::to_string(++number);
        return std::unique_ptr<door>{new door{local::listen(rt(), name, {.color = here_color})}};
      },
      [](door& d) { return d.at.accept(here_color); }, [](door& d, auto f) { d.at.accept(here_color, std::move(f)); },
      [](door& d) { local::connect(*d.at.local_address(), [peer = d.peer](auto made) { *peer = std::move(*made); }); }});
}

TEST_P(local_sockets, connect_over_a_path_and_talk) {
  local::listener door = local::listen(rt(), path(), {.unlink_on_close = true, .color = here_color});
  in_color([&]() -> task<> {
    auto client = co_await local::connect(*address::unix_path(path()));
    EXPECT_TRUE(client) << client.error().message();
    auto server = co_await door.accept(here_color);
    EXPECT_EQ(*co_await client->write("line\n"), 5u);
    std::string text;
    EXPECT_EQ(*co_await server->read_until(text, "\n", 100), 5u);
    EXPECT_EQ(text, "line\n");
    EXPECT_EQ(client->peer_address()->to_string(), "unix:" + path());
    EXPECT_TRUE(client->set_send_buffer(20'000));
    EXPECT_EQ(*client->option(SOL_SOCKET, SO_SNDBUF), 40'000);
    EXPECT_TRUE(client->set_receive_buffer(20'000));
    EXPECT_TRUE(client->shutdown_send());
    EXPECT_EQ((co_await server->read_until(text, "|", 100)).error(), errc::end_of_stream);
    door.close();
  });
  EXPECT_FALSE(std::filesystem::exists(path()));
}

TEST_P(local_sockets, take_over_a_listener_and_leave_its_path) {
  local::listener made = local::listen(rt(), path(), {.unlink_on_close = true});
  local::listener door = *local::listener::from_fd(rt(), made.release(), here_color);
  in_color([&]() -> task<> {
    bool connected = false;
    local::connect(*address::unix_path(path()), std::chrono::hours{1}, [&](const result<local::stream>& client) {
      EXPECT_TRUE(client) << client.error().message();
      connected = true;
    });
    auto again = local::listener::from_fd(door.release(), here_color);
    const auto server = co_await again->accept();
    EXPECT_TRUE(server);
    co_await until([&] { return connected; });
    EXPECT_EQ((co_await local::connect(address::loopback(1))).error(), std::errc::address_family_not_supported);
  });
  if (!simulated()) {
    EXPECT_TRUE(std::filesystem::exists(path()));
  }
}

TEST_P(local_sockets, make_no_listener_of_anything_else) {
  in_color([&]() -> task<> {
    const auto ends = make_ends();
    EXPECT_EQ(local::listener::from_fd(ends->near.native_handle(), here_color).error(), std::errc::invalid_argument);
    auto tcp_door = tcp::listen(rt(), "127.0.0.1:0", {.color = here_color});
    EXPECT_EQ(local::listener::from_fd(tcp_door.native_handle(), here_color).error(), std::errc::address_family_not_supported);
    co_return;
  });
}

TEST_P(local_sockets_of_the_kernel, refuse_a_path_that_exists) {
  {
    const local::listener first = local::listen(rt(), path());
    EXPECT_EQ(local::try_listen(rt(), *address::unix_path(path())).error(), std::errc::address_in_use);
  }
  EXPECT_TRUE(std::filesystem::exists(path())) << "nobody asked for the path to be removed";
  try {
    static_cast<void>(local::listen(rt(), path(), {.unlink_on_close = true}));
    FAIL();
  } catch (const std::system_error& e) {
    EXPECT_EQ(e.code(), std::errc::address_in_use);
    EXPECT_NE(std::string{e.what()}.find(path()), std::string::npos) << e.what();
  }
  EXPECT_TRUE(std::filesystem::exists(path())) << "removed what was not ours";
  EXPECT_EQ(local::try_listen(rt(), address::loopback(0)).error(), std::errc::address_family_not_supported);
}

TEST_P(local_sockets_of_the_kernel, remove_only_their_own_path) {
  std::filesystem::path aside = path() + "-aside";
  local::listener first = local::listen(rt(), path(), {.unlink_on_close = true});
  std::filesystem::rename(path(), aside);
  const local::listener second = local::listen(rt(), path());
  first.close();
  EXPECT_TRUE(std::filesystem::exists(path())) << "the second one's";
  local::listener given = local::listen(rt(), (aside.string() + "2"), {.unlink_on_close = true});
  const int descriptor = given.release();
  ::close(descriptor);
  EXPECT_TRUE(std::filesystem::exists(aside.string() + "2")) << "it went with the descriptor";
}

TEST_P(local_sockets_of_the_kernel, say_why_they_cannot_connect) {
  in_color([&]() -> task<> {
    EXPECT_EQ((co_await local::connect(*address::unix_path(path()))).error(), std::errc::no_such_file_or_directory);
    local::listener door = local::listen(rt(), path(), {.color = here_color});
    door.close();
    EXPECT_EQ((co_await local::connect(*address::unix_path(path()))).error(), std::errc::connection_refused);
    EXPECT_EQ((co_await local::connect(*address::unix_path("@tartan-nobody-is-there"))).error(), std::errc::connection_refused);
  });
}

TEST_P(local_sockets, pass_descriptors_between_programs) {
  world_with.partial_percent = 0;
  in_color([&]() -> task<> {
    auto ends = make_ends();
    std::array<int, 2> pipe{};
    EXPECT_EQ(::pipe2(pipe.data(), O_CLOEXEC), 0);
    EXPECT_EQ(*co_await ends->far.send_with(bytes_of("hello"), std::span{pipe}.first(1)), 5u);
    ::close(pipe[0]);
    EXPECT_EQ(*co_await ends->far.write(" world"), 6u);
    co_await arrival();
    auto got = co_await ends->near.receive_with(ends->room, ends->passed);
    EXPECT_TRUE(got) << got.error().message();
    EXPECT_EQ(got->bytes, 5u) << "a read ends behind what came with descriptors";
    EXPECT_EQ(got->descriptors, 1u);
    EXPECT_NE(::fcntl(ends->passed[0], F_GETFD) & FD_CLOEXEC, 0);
    char letter = 'x';
    EXPECT_EQ(::write(pipe[1], &letter, 1), 1);
    letter = 0;
    EXPECT_EQ(::read(ends->passed[0], &letter, 1), 1);
    EXPECT_EQ(letter, 'x');
    ::close(ends->passed[0]);
    ::close(pipe[1]);
    // The rest is there although the read before it was short: no edge would come for it.
    auto rest = co_await ends->near.receive_with(ends->room, ends->passed);
    EXPECT_EQ(rest->bytes, 6u);
    EXPECT_EQ(rest->descriptors, 0u);
  });
}

TEST_P(local_sockets, read_on_behind_descriptors_that_nobody_wanted) {
  world_with.partial_percent = 0;
  in_color([&]() -> task<> {
    auto ends = make_ends();
    const std::array<int, 1> input{0};
    EXPECT_TRUE(co_await ends->far.send_with(bytes_of("one"), input));
    EXPECT_TRUE(co_await ends->far.write("two"));
    EXPECT_EQ(*co_await ends->near.read_some(ends->room), 3u);
    EXPECT_EQ(*co_await ends->near.read_some(ends->room), 3u);
  });
}

TEST_P(local_sockets, pass_sixteen_descriptors_and_refuse_seventeen) {
  world_with.partial_percent = 0;
  in_color([&]() -> task<> {
    auto ends = make_ends();
    const std::vector<int> many(17, 0);
    EXPECT_EQ((co_await ends->far.send_with(bytes_of("x"), many)).error(), std::errc::invalid_argument);
    EXPECT_EQ((co_await ends->far.send_with({}, std::span{many}.first(1))).error(), std::errc::invalid_argument);
    EXPECT_TRUE(co_await ends->far.send_with(bytes_of("x"), std::span{many}.first(16)));
    auto got = co_await ends->near.receive_with(ends->room, ends->passed);
    EXPECT_EQ(got->descriptors, 16u);
    for (const int each : ends->passed) ::close(each);
  });
}

/// Sends more descriptors in one message than this library does.
void send_many(int to, std::size_t count) {
  std::vector<std::byte> control(CMSG_SPACE(count * sizeof(int)));
  char letter = 'x';
  iovec part{&letter, 1};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  cmsghdr* const head = CMSG_FIRSTHDR(&message);
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_RIGHTS;
  head->cmsg_len = CMSG_LEN(count * sizeof(int));
  EXPECT_EQ(test::system_here().send_message(to, message, 0), 1);
}

TEST_P(local_sockets, close_what_came_if_not_all_has_room) {
  world_with.partial_percent = 0;
  in_color([&]() -> task<> {
    auto ends = make_ends();
    const std::size_t before = test::open_descriptors();
    send_many(ends->far.native_handle(), 40);
    EXPECT_EQ((co_await ends->near.receive_with(ends->room, ends->passed)).error(), std::errc::message_size);
    EXPECT_EQ(test::open_descriptors(), before);
    send_many(ends->far.native_handle(), 3);
    EXPECT_EQ((co_await ends->near.receive_with(ends->room, std::span{ends->passed}.first(2))).error(), std::errc::message_size);
    EXPECT_EQ(test::open_descriptors(), before);
  });
}

TEST_P(local_sockets, write_all_of_it_with_the_descriptors_at_its_head) {
  constexpr std::size_t much = 3 << 20;
  std::size_t total = 0;
  std::size_t passed = 0;
  in_color([&]() -> task<> {
    auto ends = make_ends();
    std::vector<std::byte> all(much);
    const std::array<int, 2> both{0, 1};
    auto writer = spawn_in(here_color, [&]() -> task<> { EXPECT_EQ(*co_await ends->far.send_with(all, both), much); });
    std::vector<std::byte> room(1 << 16);
    while (total < much) {
      auto got = co_await ends->near.receive_with(room, ends->passed);
      EXPECT_TRUE(got);
      if (!got) break;
      total += got->bytes;
      for (std::size_t n = 0; n < got->descriptors; ++n) ::close(ends->passed[n]);
      passed += got->descriptors;
    }
    co_await writer.join();
  });
  EXPECT_EQ(total, much);
  EXPECT_EQ(passed, 2u);
}

TEST_P(local_sockets, tell_that_the_peer_is_gone) {
  in_color([&]() -> task<> {
    auto ends = make_ends();
    ends->far.close();
    const std::array<int, 1> input{0};
    EXPECT_EQ((co_await ends->near.receive_with(ends->room, ends->passed)).error(), errc::end_of_stream);
    EXPECT_EQ((co_await ends->near.send_with(bytes_of("x"), input)).error(), std::errc::broken_pipe);
    const int file = ::open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    EXPECT_EQ((co_await ends->near.send_file(file, 0, 1)).error(), std::errc::broken_pipe);
    ::close(file);
  });
}

/// How many descriptors are watched: each may wake a worker.
std::size_t watched() {
  std::size_t count = 0;
  for (const auto& each : std::filesystem::directory_iterator{"/proc/self/fdinfo"}) {
    std::ifstream about{each.path()};
    for (std::string line; std::getline(about, line);) count += line.starts_with("tfd:") ? 1 : 0;
  }
  return count;
}

TEST_P(local_sockets_of_the_kernel, bring_no_edge_when_they_are_closed_though_a_duplicate_lives_on) {
  in_color([&]() -> task<> {
    auto ends = make_ends();
    const std::size_t before = watched();
    const int same = ::dup(ends->near.native_handle());
    ends->near.close();
    EXPECT_EQ(watched(), before - 1);
    ::close(same);
    auto others = make_ends();
    EXPECT_TRUE(co_await others->near.send_with(bytes_of("x"), std::array{ends->far.native_handle()}));
    ends->far.close();  // it is on its way
    EXPECT_EQ(watched(), before);
    EXPECT_EQ((co_await others->far.receive_with(others->room, others->passed))->descriptors, 1u);
    auto arrived = local::stream::from_fd(::dup(others->passed[0]), here_color);
    EXPECT_EQ(watched(), before + 1);
    arrived->close();
    EXPECT_EQ(watched(), before);
    ::close(others->passed[0]);
  });
}

TEST_P(local_sockets_of_the_kernel, are_made_of_a_descriptor_once) {
  in_color([&]() -> task<> {
    auto ends = make_ends();
    EXPECT_EQ(local::stream::from_fd(ends->near.native_handle(), here_color).error(), std::errc::file_exists);
    EXPECT_TRUE(co_await ends->far.write("x"));
    EXPECT_EQ(*co_await ends->near.read_some(ends->room), 1u);
  });
}

TEST_P(local_sockets, are_made_of_descriptors_from_elsewhere) {
  int ends[2];
  ASSERT_EQ(detail::io_service::of(rt().state()).system().open_pair(AF_UNIX, SOCK_STREAM, ends), 0);
  local::stream one = *local::stream::from_fd(rt(), ends[0], here_color);
  in_color([&]() -> task<> {
    local::stream other = *local::stream::from_fd(ends[1], here_color);
    EXPECT_TRUE(co_await one.write("x"));
    std::array<std::byte, 8> room{};
    EXPECT_EQ(*co_await other.read_some(room), 1u);
    EXPECT_EQ(local::stream::from_fd(-1, here_color).error(), std::errc::bad_file_descriptor);
  });
}

}  // namespace
}  // namespace tartan
