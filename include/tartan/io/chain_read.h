#pragma once
/// Reading into a buf::chain. Library code; programs use the streams' members.

#include <cstddef>
#include <string_view>
#include <tartan/buf/chain.h>
#include <tartan/core/result.h>
#include <tartan/io/transfer.h>
#include <tartan/io/wait.h>

namespace tartan::detail {

/// Reads into a chain until it holds what is wanted.
class chain_read_op : public io_wait {
 public:
  /// Room that the chain must have for a read; it gives more where it has more.
  static constexpr std::size_t least_room_bytes = 512;

 protected:
  chain_read_op(slot_key on, channel_kind kind, buf::chain& into, std::size_t most) noexcept
      : io_wait{on, flow::in, true}, into_{&into}, most_{most}, kind_{kind} {}

  [[nodiscard]] buf::chain& into() const noexcept { return *into_; }
  [[nodiscard]] std::size_t most() const noexcept { return most_; }
  /// Bytes that this operation has read.
  [[nodiscard]] std::size_t got() const noexcept { return got_; }

 private:
  step attempt(io_slot& on) noexcept final;
  [[nodiscard]] bool needs_no_call() noexcept final { return is_there(); }
  /// Whether the chain holds it.
  [[nodiscard]] virtual bool is_there() noexcept = 0;
  /// How many bytes more it may read.
  [[nodiscard]] virtual std::size_t may_read() const noexcept { return most_ - (into_->size() < most_ ? into_->size() : most_); }

  buf::chain* into_;
  std::size_t most_;
  std::size_t got_ = 0;
  channel_kind kind_;
};

/// What there is, at least a byte.
class chain_read_some_op : public chain_read_op {
 public:
  using value_type = std::size_t;
  chain_read_some_op(slot_key on, channel_kind kind, buf::chain& into, std::size_t most) noexcept
      : chain_read_op{on, kind, into, most} {}
  [[nodiscard]] result<value_type> take() const noexcept { return error() ? result<value_type>{error()} : result<value_type>{got()}; }

 private:
  [[nodiscard]] bool is_there() noexcept final { return got() != 0 || most() == 0; }
  [[nodiscard]] std::size_t may_read() const noexcept final { return most(); }
};

/// Up to the end of a line.
class chain_read_line_op : public chain_read_op {
 public:
  using value_type = buf::line;
  chain_read_line_op(slot_key on, channel_kind kind, buf::chain& into, std::size_t most) noexcept
      : chain_read_op{on, kind, into, most} {}
  [[nodiscard]] result<value_type> take() const noexcept { return error() ? result<value_type>{error()} : result<value_type>{found_}; }

 private:
  [[nodiscard]] bool is_there() noexcept final;
  buf::line found_{};
};

/// Up to a delimiter.
class chain_read_until_op : public chain_read_op {
 public:
  using value_type = std::size_t;
  chain_read_until_op(slot_key on, channel_kind kind, buf::chain& into, std::string_view delimiter, std::size_t most) noexcept
      : chain_read_op{on, kind, into, most}, delimiter_{delimiter} {}
  [[nodiscard]] result<value_type> take() const noexcept { return error() ? result<value_type>{error()} : result<value_type>{length_}; }

 private:
  [[nodiscard]] bool is_there() noexcept final;
  std::string_view delimiter_;
  std::size_t searched_ = 0;
  std::size_t length_ = 0;
};

}  // namespace tartan::detail
