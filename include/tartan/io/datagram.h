#pragma once
/// Operations that move datagrams. Library code; programs use udp.h.

#include <cstddef>
#include <span>
#include <tartan/buf/bytes.h>
#include <tartan/core/result.h>
#include <tartan/io/address.h>
#include <tartan/io/wait.h>

namespace tartan::udp {

/// What receive has got.
struct received {
  std::size_t bytes = 0;   ///< in the buffer; a datagram may be empty
  bool truncated = false;  ///< the datagram was longer: the rest is lost
};

/// What receive_from has got.
struct datagram {
  std::size_t bytes = 0;   ///< in the buffer; a datagram may be empty
  bool truncated = false;  ///< the datagram was longer: the rest is lost
  address from;
};

/// Where receive_many puts one datagram.
struct incoming {
  mutable_bytes room{};    ///< set by the caller; the rest by receive_many
  std::size_t bytes = 0;   ///< in the room; a datagram may be empty
  bool truncated = false;  ///< the datagram was longer than the room: the rest is lost
  address from{};
};

/// One datagram of send_many.
struct outgoing {
  const_bytes bytes{};
  address to{};  ///< nowhere: the peer that the socket is connected to
};

/// The most datagrams that one system call moves, and that one receive_many receives.
inline constexpr std::size_t max_datagrams_per_call = 64;

}  // namespace tartan::udp

namespace tartan::detail {

/// Takes one datagram.
class receive_datagram : public io_wait {
 protected:
  receive_datagram(slot_key on, std::span<std::byte> into) noexcept : io_wait{on, flow::in}, into_{into} {}
  receive_datagram(receive_datagram&& before_it_begins) noexcept = default;
  ~receive_datagram() = default;
  udp::datagram got_;

 private:
  step attempt(io_slot& on) noexcept final;
  std::span<std::byte> into_;
};

class receive_op : public receive_datagram {
 public:
  using value_type = udp::received;
  receive_op(slot_key on, std::span<std::byte> into) noexcept : receive_datagram{on, into} {}
  [[nodiscard]] result<value_type> take() const noexcept {
    if (error()) return error();
    return value_type{got_.bytes, got_.truncated};
  }
};

class receive_from_op : public receive_datagram {
 public:
  using value_type = udp::datagram;
  receive_from_op(slot_key on, std::span<std::byte> into) noexcept : receive_datagram{on, into} {}
  [[nodiscard]] result<value_type> take() const noexcept {
    if (error()) return error();
    return got_;
  }
};

/// Sends one datagram, to the peer that the socket is connected to if `to` is nowhere.
class send_datagram_op : public io_wait {
 public:
  using value_type = void;
  send_datagram_op(slot_key on, std::span<const std::byte> all, const address& to) noexcept : io_wait{on, flow::out}, all_{all}, to_{to} {}
  [[nodiscard]] result<> take() const noexcept { return error(); }

 private:
  step attempt(io_slot& on) noexcept final;
  std::span<const std::byte> all_;
  address to_;
};

/// Receives what is there, one datagram into each place.
class receive_many_op : public io_wait {
 public:
  using value_type = std::size_t;
  receive_many_op(slot_key on, std::span<udp::incoming> into) noexcept : io_wait{on, flow::in}, into_{into} {}
  [[nodiscard]] result<value_type> take() const noexcept {
    return error() ? result<value_type>{error()} : result<value_type>{got_};
  }

 private:
  step attempt(io_slot& on) noexcept final;
  std::span<udp::incoming> into_;
  std::size_t got_ = 0;
};

/// Sends datagrams in order, up to the first that fails.
class send_many_op : public io_wait {
 public:
  using value_type = std::size_t;
  send_many_op(slot_key on, std::span<const udp::outgoing> all) noexcept : io_wait{on, flow::out}, all_{all} {}
  [[nodiscard]] result<value_type> take() const noexcept {
    return error() ? result<value_type>{error()} : result<value_type>{done_};
  }

 private:
  step attempt(io_slot& on) noexcept final;
  std::span<const udp::outgoing> all_;
  std::size_t done_ = 0;
};

}  // namespace tartan::detail
