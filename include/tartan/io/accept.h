#pragma once
/// Operations that make connections. Library code; programs use tcp.h and local.h.

#include <cstdint>
#include <optional>
#include <tartan/core/color.h>
#include <tartan/core/result.h>
#include <tartan/io/address.h>
#include <tartan/io/wait.h>

namespace tartan::detail {

/// Takes one connection from a listener.
class accept_base : public io_wait {
 protected:
  accept_base(slot_key on, std::optional<color> into) noexcept : io_wait{on, flow::in}, into_{into} {}
  accept_base(accept_base&& before_it_begins) noexcept = default;
  ~accept_base();

  /// The connection, once.
  [[nodiscard]] slot_key take_key() noexcept { return std::exchange(accepted_, {}); }

 private:
  step attempt(io_slot& on) noexcept final;
  step take_over(io_slot& on, int descriptor) noexcept;

  std::optional<color> into_;
  slot_key accepted_;
};

template <class Stream>
class accept_op : public accept_base {
 public:
  using value_type = Stream;
  accept_op(slot_key on, std::optional<color> into) noexcept : accept_base{on, into} {}
  [[nodiscard]] result<Stream> take() noexcept {
    if (error()) return error();
    return Stream{take_key()};
  }
};

/// Waits for a connection that is being made.
class connect_base : public io_wait {
 protected:
  explicit connect_base(slot_key on) noexcept : io_wait{on, flow::out} {}
  connect_base(connect_base&& before_it_begins) noexcept = default;
  ~connect_base() = default;

 private:
  step attempt(io_slot& on) noexcept final;
};

/// A socket on which a connection was begun, in the running color; an error if not even that went well.
struct begun_connection {
  slot_key key;
  std::error_code error;
};
[[nodiscard]] begun_connection begin_connection(const address& to, std::source_location site) noexcept;

template <class Stream>
class connect_op : public connect_base {
 public:
  using value_type = Stream;
  explicit connect_op(begun_connection begun) noexcept : connect_base{begun.key}, made_{begun.key}, failed_{begun.error} {}
  [[nodiscard]] result<Stream> take() noexcept {
    if (failed_) return failed_;
    if (error()) return error();
    return std::move(made_);
  }

 private:
  Stream made_;
  std::error_code failed_;
};

}  // namespace tartan::detail
