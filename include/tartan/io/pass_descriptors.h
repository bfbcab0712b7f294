#pragma once
/// Operations that pass descriptors through a Unix socket. Library code; programs use local.h.

#include <cstddef>
#include <span>
#include <tartan/core/result.h>
#include <tartan/io/wait.h>

namespace tartan::local {

/// Descriptors that one send_with may carry.
inline constexpr std::size_t max_passed_descriptors = 16;

/// What receive_with has got.
struct received {
  std::size_t bytes = 0;
  std::size_t descriptors = 0;
};

}  // namespace tartan::local

namespace tartan::detail {

/// Writes all of it, the descriptors with the first byte.
class send_with_op : public io_wait {
 public:
  using value_type = std::size_t;
  send_with_op(slot_key on, std::span<const std::byte> all, std::span<const int> descriptors) noexcept
      : io_wait{on, flow::out}, all_{all}, descriptors_{descriptors} {}
  [[nodiscard]] result<value_type> take() const noexcept { return error() ? result<value_type>{error()} : result<value_type>{done_}; }

 private:
  step attempt(io_slot& on) noexcept final;
  std::span<const std::byte> all_;
  std::span<const int> descriptors_;
  std::size_t done_ = 0;
};

/// One read of bytes and of the descriptors that came with them.
class receive_with_op : public io_wait {
 public:
  using value_type = local::received;
  receive_with_op(slot_key on, std::span<std::byte> into, std::span<int> descriptors) noexcept
      : io_wait{on, flow::in}, into_{into}, descriptors_{descriptors} {}
  [[nodiscard]] result<value_type> take() const noexcept { return error() ? result<value_type>{error()} : result<value_type>{got_}; }

 private:
  step attempt(io_slot& on) noexcept final;
  std::span<std::byte> into_;
  std::span<int> descriptors_;
  local::received got_;
};

}  // namespace tartan::detail
