#include "load/line_stream.h"

#include <cstddef>
#include <stdexcept>

namespace load {

namespace {

constexpr std::size_t longest_line = std::size_t{1} << 30;  // a body, all of whose bytes may have to be written as six

}  // namespace

tartan::task<> line_stream::send_line(std::string line) {
  line += '\n';
  const tartan::result<std::size_t> sent = co_await peer_.write(line);
  if (!sent) throw std::runtime_error{"the other one is gone: " + sent.error().message()};
}

tartan::task<std::string> line_stream::receive_line() {
  const tartan::result<std::size_t> length = co_await peer_.read_until(in_, "\n", longest_line);
  if (!length) throw std::runtime_error{"the other one is gone: " + length.error().message()};
  std::string line = in_.substr(0, *length - 1);
  in_.erase(0, *length);
  co_return line;
}

tartan::task<flat_json> line_stream::receive() {
  const std::string line = co_await receive_line();
  std::optional<flat_json> read = flat_json::parse(line);
  if (!read) throw std::runtime_error{"the other one says what is not understood"};
  co_return std::move(*read);
}

tartan::task<> line_stream::expect(std::string step) {
  const flat_json said = co_await receive();
  if (said.text("step") != step) throw std::runtime_error{"the other one does not say " + step};
}

tartan::task<> line_stream::send_step(std::string step) {
  json_object made;
  made.add("step", step);
  co_await send(made);
}

}  // namespace load
