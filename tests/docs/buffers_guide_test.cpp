/// What docs/guide/buffers.md shows; tests/docs/check finds its code blocks here.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <tartan/buf/chain.h>
#include <tartan/io/stream_writer.h>
#include <tartan/io/tcp.h>
#include <tartan/tartan.h>

#include <string>
#include <utility>
#include <vector>

namespace {

tartan::task<> answer_lengths(tartan::tcp::stream peer) {
  tartan::stream_writer out{peer};
  tartan::buf::chain in;
  while (auto line = co_await peer.read_line(in, 8192)) {
    tartan::buf::slice text = in.take_slice(line->length);  // no copy if it lies in one piece
    in.drop(line->whole - line->length);                    // LF, or CRLF
    out.print(text.size(), ' ', text, '\n');                // the text goes by reference
    if (!co_await out.ready()) co_return;                   // waits while too much is queued
  }
  static_cast<void>(co_await out.flush());                 // as far as the system; there is nobody to tell
}

TEST(buffers_guide, lines_are_answered_with_their_length) {
  int both[2] = {-1, -1};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, both), 0);
  std::string answer;
  tartan::runtime rt;
  rt.spawn([&]() -> tartan::task<> {
    auto near = tartan::tcp::stream::from_fd(both[0], tartan::color{});
    auto far = tartan::tcp::stream::from_fd(both[1], tartan::color{});
    tartan::spawn(answer_lengths, std::move(*near)).detach();
    EXPECT_TRUE(co_await far->write("one\r\nthree\n"));
    static_cast<void>(far->shutdown_send());
    EXPECT_TRUE(co_await far->read_until(answer, "5 three\n", 100));
  }).detach();
  rt.run_until_idle();
  EXPECT_EQ(answer, "3 one\n5 three\n");
}

tartan::task<> greet(tartan::local::stream& peer) {
  std::string name(5, ' ');
  if (!co_await peer.read_exactly(name)) co_return;  // fills what is there: a string does not grow
  const std::vector<unsigned char> packet{0, 1, 2};
  if (!co_await peer.write(packet)) co_return;
  static_cast<void>(co_await peer.write("hello"));  // five bytes: a literal ends before its NUL
}

TEST(buffers_guide, ranges_of_bytes_are_read_and_written) {
  tartan::runtime rt;
  rt.spawn([&]() -> tartan::task<> {
    auto both = *tartan::local::pair();
    EXPECT_TRUE(co_await both.second.write("world"));
    co_await greet(both.first);
    std::string answer(8, ' ');
    EXPECT_TRUE(co_await both.second.read_exactly(answer));
    EXPECT_EQ(answer.substr(3), "hello");
  }).detach();
  rt.run_until_idle();
}

TEST(buffers_guide, pieces_are_shared) {
  using tartan::buf::slice;
  slice page{std::string(100'000, 'x')};               // moved in: no copy
  slice head = page.sub(0, 100);                       // shares
  slice found = slice::of_static("HTTP/1.1 200 OK\r\n");  // not even counted
  EXPECT_EQ(page.uses(), 2u);
  EXPECT_EQ(head.data(), page.data());
  EXPECT_EQ(found.uses(), 0u);
}

TEST(buffers_guide, marks_tell_when_something_has_left) {
  bool gone = false;
  tartan::buf::chain out;
  out.print("HTTP/1.1 ", 200, " OK\r\n");
  out.mark([&] { gone = true; });  // when everything up to here has left
  out.append("and more");
  out.drop(17);
  EXPECT_TRUE(gone);
}

}  // namespace
