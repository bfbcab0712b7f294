#pragma once
/// Operations that move datagrams. Library code; programs use udp.h.

#include <cstddef>
#include <span>
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

}  // namespace tartan::detail
