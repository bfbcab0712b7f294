// A message is a datagram.

#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <system_error>
#include <vector>

#include "rpc/transport.h"

namespace tartan::rpc::detail {

namespace {

constexpr std::size_t most_datagram_bytes = 65536;
constexpr std::size_t most_queued_bytes = std::size_t{16}
                                          << 20;  // beyond that a datagram is dropped, as the network drops it

/// The bytes of an IP address: of IPv4 as IPv6 has them on a socket of both.
std::array<std::byte, 16> ip_bytes(const address& of) {
  std::array<std::byte, 16> bytes{};
  if (of.family() == AF_INET6) {
    std::memcpy(bytes.data(), &reinterpret_cast<const sockaddr_in6*>(of.data())->sin6_addr, 16);
  } else if (of.family() == AF_INET) {
    bytes[10] = bytes[11] = std::byte{0xff};
    std::memcpy(bytes.data() + 12, &reinterpret_cast<const sockaddr_in*>(of.data())->sin_addr, 4);
  }
  return bytes;
}

bool is_same_place(const address& a, const address& b) {
  if (!a.is_ip() || !b.is_ip()) return a == b;
  return a.port() == b.port() && ip_bytes(a) == ip_bytes(b);
}

/// Broadcast and multicast: servers answer from addresses of their own.
bool is_group(const address& to) {
  const auto bytes = ip_bytes(to);
  if (to.family() == AF_INET) return bytes[12] >= std::byte{224};
  return to.family() == AF_INET6 && bytes[0] == std::byte{0xff};
}

class datagram_transport final : public transport {
 public:
  datagram_transport(udp::socket from, const settings& with)
      : transport{with.queue}, under_{std::move(from)}, where_{under_.color()}, room_(most_datagram_bytes) {}

  [[nodiscard]] color where() const noexcept override { return where_; }
  [[nodiscard]] bool is_reliable() const noexcept override { return false; }
  [[nodiscard]] address peer() const override { return {}; }
  [[nodiscard]] bool may_answer(const address& called, const address& from) const override {
    return called.size() == 0 || is_group(called) || is_same_place(called, from);
  }

  [[nodiscard]] result<bool> next(incoming& into) override {
    if (!has_one_) return false;
    into = std::move(one_);
    has_one_ = false;
    return true;
  }
  [[nodiscard]] task<result<>> fill() override;

  void send(buf::chain message, const address& to, descriptors /*passed*/) override {
    if (queued().level() + message.size() > most_queued_bytes) return;
    queued().enter(message.size());
    waiting_.push_back({std::move(message), to});
  }
  [[nodiscard]] buf::chain* begin_place(std::size_t /*bytes*/) override { return nullptr; }
  void end_place(std::size_t /*bytes*/) override {}

  [[nodiscard]] result<bool> try_flush() override { return waiting_.empty(); }
  [[nodiscard]] task<result<>> flush() override;
  [[nodiscard]] task<result<>> replace(const stream_upgrade& /*how*/) override {
    co_return std::make_error_code(std::errc::operation_not_supported);
  }

  [[nodiscard]] task<> linger() override { co_return; }
  void close() override { under_.close(); }

 private:
  struct datagram {
    buf::chain bytes;
    address to;
  };

  udp::socket under_;
  const color where_;
  std::vector<std::byte> room_;
  incoming one_;
  bool has_one_ = false;
  std::deque<datagram> waiting_;
};

/// Errors of the network, such as "connection refused", arrive with later operations. They end nothing: a lost call is sent
/// again.
bool ends_socket(const std::error_code& error) noexcept {
  return error == tartan::errc::canceled || error == tartan::errc::closed || error == std::errc::bad_file_descriptor;
}

task<result<>> datagram_transport::fill() {
  for (;;) {
    const result<udp::datagram> got = co_await under_.receive_from(mutable_bytes{room_});
    if (!got && ends_socket(got.error())) co_return got.error();
    if (!got || got->truncated) continue;
    one_.message = {};
    one_.message.append(buf::slice::copy_of(const_bytes{room_.data(), got->bytes}));
    one_.from = got->from;
    has_one_ = true;
    co_return result<>{};
  }
}

task<result<>> datagram_transport::flush() {
  while (!waiting_.empty()) {
    const datagram first = std::move(waiting_.front());
    waiting_.pop_front();
    const std::size_t size = first.bytes.size();
    const std::string flat = first.bytes.slices().size() == 1 ? std::string{} : first.bytes.to_string();
    const const_bytes all =
        first.bytes.slices().size() == 1 ? const_bytes{first.bytes.slices()[0].bytes()} : const_bytes{flat};
    const result<> went = co_await under_.send_to(all, first.to);
    queued().leave(size);
    if (!went && ends_socket(went.error())) co_return went.error();
  }
  co_return result<>{};
}

}  // namespace

std::unique_ptr<transport> over_datagrams(udp::socket from, const settings& with) {
  return std::make_unique<datagram_transport>(std::move(from), with);
}

}  // namespace tartan::rpc::detail
