#pragma once
/// A name server of the tests: it answers as a function says, over UDP and TCP at one port.

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <tartan/core/runtime.h>
#include <tartan/core/spawn.h>
#include <tartan/core/task.h>
#include <tartan/dns/resolver.h>
#include <tartan/io/tcp.h>
#include <tartan/io/udp.h>
#include <tartan/time/sleep.h>
#include <utility>
#include <vector>

#include "dns/message.h"

namespace tartan::test {

using detail::record_type;

/// A question as the server got it.
struct asked {
  std::string bytes;
  std::string name;
  record_type type = record_type::a;
  bool by_tcp = false;
  unsigned number = 0;  ///< how many came before it
};

inline std::string wire16(unsigned number) {
  return {static_cast<char>(number >> 8), static_cast<char>(number & 255)};
}
inline std::string wire32(std::uint32_t number) {
  return wire16(number >> 16) + wire16(number & 0xffff);
}
inline std::string wire_name(std::string_view name) {
  std::string wire;
  while (!name.empty()) {
    const std::string_view label = name.substr(0, name.find('.'));
    wire += static_cast<char>(label.size());
    wire += label;
    name.remove_prefix(std::min(label.size() + 1, name.size()));
  }
  return wire + '\0';
}

/// An answer being written.
class reply {
 public:
  explicit reply(const asked& to, unsigned code = 0) : bytes_{to.bytes} {
    bytes_[2] = static_cast<char>(0x81);  // an answer, recursion desired
    bytes_[3] = static_cast<char>(0x80 | code);
  }

  reply& add(std::string_view owner, record_type type, std::uint32_t time_to_live, std::string_view data) {
    bytes_ += wire_name(owner) + wire16(static_cast<unsigned>(type)) + wire16(1) + wire32(time_to_live) +
              wire16(static_cast<unsigned>(data.size())) + std::string{data};
    bytes_.replace(6, 2, wire16(++records_));
    return *this;
  }
  reply& ipv4(std::string_view owner, std::uint32_t time_to_live, std::string_view four) {
    return add(owner, record_type::a, time_to_live, four);
  }
  reply& alias(std::string_view owner, std::uint32_t time_to_live, std::string_view to) {
    return add(owner, record_type::cname, time_to_live, wire_name(to));
  }
  reply& truncated() {
    bytes_[2] = static_cast<char>(bytes_[2] | 2);
    return *this;
  }
  reply& with_id_changed() {
    bytes_[0] = static_cast<char>(~bytes_[0]);
    return *this;
  }
  [[nodiscard]] std::string bytes() const { return bytes_; }
  operator std::vector<std::string>() const { return {bytes_}; }

 private:
  std::string bytes_;
  unsigned records_ = 0;
};

/// Color: the one that it is made in, for everything.
class name_server {
 public:
  /// What is sent for a question, in this order; nothing: silence. By TCP an empty string closes the connection.
  using replies = std::vector<std::string>;
  using function = std::function<replies(const asked&)>;

  name_server(runtime& rt, color c, function f, const address& at = address::loopback(0))
      : color_{c}, f_{std::move(f)} {
    while (!door_.is_open()) {  // until a port is free for both
      tcp_door_ = tcp::listen(rt, at, {.color = c});
      at_ = tcp_door_.local_address().value();
      if (auto door = udp::try_bind(rt, at_, {.color = c})) door_ = std::move(*door);
    }
    spawn_in(rt, c, serve_datagrams, std::ref(*this)).detach();
    spawn_in(rt, c, serve_connections, std::ref(*this)).detach();
  }

  [[nodiscard]] address at() const { return at_; }
  [[nodiscard]] unsigned count() const { return count_; }
  [[nodiscard]] unsigned connections() const { return connections_; }
  [[nodiscard]] const std::vector<asked>& questions() const { return questions_; }

  /// How long an answer over UDP takes.
  std::function<std::chrono::milliseconds(const asked&)> delay;

  void close() {
    door_.close();
    tcp_door_.close();
  }

 private:
  replies answer(std::string_view message, bool by_tcp) {
    asked q{std::string{message}, {}, {}, by_tcp, count_++};
    std::size_t at = 12;
    while (at < message.size() && message[at] != 0) {
      if (!q.name.empty()) q.name += '.';
      q.name += message.substr(at + 1, static_cast<unsigned char>(message[at]));
      at += static_cast<unsigned char>(message[at]) + 1U;
    }
    q.type = static_cast<record_type>(static_cast<unsigned char>(message[at + 2]));
    questions_.push_back(q);
    return f_(q);
  }

  static std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span{text}); }

  static task<> serve_datagrams(name_server& self) {
    std::array<std::byte, 512> room{};
    while (const auto got = co_await self.door_.receive_from(room)) {
      const std::string message{reinterpret_cast<const char*>(room.data()), got->bytes};
      replies all = self.answer(message, false);
      if (self.delay) {
        spawn_in(self.color_, send_later, std::ref(self), self.delay(self.questions_.back()), std::move(all), got->from)
            .detach();
        continue;
      }
      for (const std::string& each : all) static_cast<void>(co_await self.door_.send_to(bytes_of(each), got->from));
    }
  }

  static task<> send_later(name_server& self, std::chrono::milliseconds delay, replies all, address to) {
    static_cast<void>(co_await sleep(delay));
    for (const std::string& each : all) static_cast<void>(co_await self.door_.send_to(bytes_of(each), to));
  }

  static task<> serve_connections(name_server& self) {
    while (auto peer = co_await self.tcp_door_.accept(self.color_)) {
      ++self.connections_;
      spawn_in(self.color_, serve_stream, std::ref(self), std::move(*peer)).detach();
    }
  }

  static task<> serve_stream(name_server& self, tcp::stream peer) {
    for (;;) {
      std::array<std::byte, 2> head{};
      const auto got = co_await peer.read_exactly(head);
      if (!got) co_return;
      std::string message(static_cast<std::size_t>(head[0]) * 256 + static_cast<std::size_t>(head[1]), ' ');
      const auto rest = co_await peer.read_exactly(std::as_writable_bytes(std::span{message}));
      if (!rest) co_return;
      const replies all = self.answer(message, true);
      for (const std::string& each : all) {
        if (each.empty()) co_return;
        const std::string framed = wire16(static_cast<unsigned>(each.size())) + each;
        const auto sent = co_await peer.write(bytes_of(framed));
        if (!sent) co_return;
      }
    }
  }

  color color_;
  udp::socket door_;
  tcp::listener tcp_door_;
  address at_;
  function f_;
  unsigned count_ = 0;
  unsigned connections_ = 0;
  std::vector<asked> questions_;
};

/// Options for a resolver that knows one server, and no file.
inline dns::resolver_options only_at(const address& server) {
  dns::resolver_options with;
  with.servers = {server};
  with.search.emplace();
  with.configuration_file.clear();
  with.hosts_file.clear();
  return with;
}
inline dns::resolver_options only(const name_server& server) {
  return only_at(server.at());
}

}  // namespace tartan::test
