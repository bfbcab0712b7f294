#pragma once
/// Operations that move bytes through a descriptor. Library code; programs use the objects' members.

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <tartan/core/result.h>
#include <tartan/io/wait.h>

namespace tartan::detail {

/// Which system calls it takes, and what a short read says.
enum class channel_kind : std::uint8_t {
  socket,        ///< a short read has emptied it
  local_socket,  ///< so it has, unless it ended behind a message that brought descriptors
  file,          ///< pipes and terminals: it says nothing
};

/// Reads into a span.
class read_op : public io_wait {
 public:
  using value_type = std::size_t;
  read_op(slot_key on, channel_kind kind, std::span<std::byte> into) noexcept : io_wait{on, flow::in}, kind_{kind}, into_{into} {}
  [[nodiscard]] result<value_type> take() const noexcept { return failed() ? result<value_type>{error()} : result<value_type>{got_}; }

 protected:
  channel_kind kind_;
  std::span<std::byte> into_;
  std::size_t got_ = 0;
};

/// One read: what is there, at least a byte.
class read_some_op : public read_op {
 public:
  using read_op::read_op;

 private:
  step attempt(io_slot& on) noexcept final;
};

/// Waits until a read is worth a try. Of thousands that wait each is out of the cache when its time comes: so it is in one line, not in two.
class alignas(64) readable_op : public io_wait {
 public:
  using value_type = void;
  explicit readable_op(slot_key on) noexcept : io_wait{on, flow::in} {}
  [[nodiscard]] result<value_type> take() const noexcept { return failed() ? result<value_type>{error()} : result<value_type>{}; }

 private:
  step attempt(io_slot& /*on*/) noexcept final { return step::done; }
};

/// Waits until a write is worth a try.
class writable_op : public io_wait {
 public:
  using value_type = void;
  explicit writable_op(slot_key on) noexcept : io_wait{on, flow::out} {}
  [[nodiscard]] result<value_type> take() const noexcept { return failed() ? result<value_type>{error()} : result<value_type>{}; }

 private:
  step attempt(io_slot& /*on*/) noexcept final { return step::done; }
};

/// Reads until the span is full.
class read_exactly_op : public read_op {
 public:
  using read_op::read_op;

 private:
  step attempt(io_slot& on) noexcept final;
};

/// Appends to a string until it holds a delimiter.
class read_until_op : public io_wait {
 public:
  using value_type = std::size_t;
  read_until_op(slot_key on, channel_kind kind, std::string& into, std::string_view delimiter, std::size_t most) noexcept
      : io_wait{on, flow::in, true}, into_{&into}, delimiter_{delimiter}, most_{most}, kind_{kind} {}
  [[nodiscard]] result<value_type> take() const noexcept { return failed() ? result<value_type>{error()} : result<value_type>{length_}; }

 private:
  step attempt(io_slot& on) noexcept final;
  [[nodiscard]] bool needs_no_call() noexcept final { return find(); }
  [[nodiscard]] bool find() noexcept;
  std::string* into_;
  std::string_view delimiter_;
  std::size_t most_;
  std::size_t searched_ = 0;
  std::size_t length_ = 0;
  channel_kind kind_;
};

/// Writes all of some parts.
class write_op : public io_wait {
 public:
  using value_type = std::size_t;
  write_op(slot_key on, channel_kind kind, std::span<const std::byte> all) noexcept
      : io_wait{on, flow::out}, kind_{kind}, single_{all} {}
  write_op(slot_key on, channel_kind kind, std::span<const std::span<const std::byte>> parts) noexcept
      : io_wait{on, flow::out}, kind_{kind}, parts_{parts} {
    if (!parts.empty()) next_part();
  }
  [[nodiscard]] result<value_type> take() const noexcept { return failed() ? result<value_type>{error()} : result<value_type>{done_}; }

 private:
  step attempt(io_slot& on) noexcept final;
  void next_part() noexcept {
    single_ = parts_.front();
    parts_ = parts_.subspan(1);
  }
  /// What one system call has come to: bytes, or -errno, and how many bytes it was asked for.
  struct call {
    ssize_t got;
    std::size_t asked;
  };
  [[nodiscard]] call write_now(io_slot& on) noexcept;
  [[nodiscard]] call write_parts(io_slot& on) noexcept;
  [[nodiscard]] step go_on(io_slot& on, call last) noexcept;
  void advance(std::size_t bytes) noexcept;
  [[nodiscard]] bool complete_now() noexcept;

  channel_kind kind_;
  std::span<const std::byte> single_;  ///< the part that is being written
  std::span<const std::span<const std::byte>> parts_;  ///< those behind it
  std::size_t done_ = 0;
};

class read_ahead;

/// Sends a piece of a file from the kernel's cache, without a copy. What is not there is brought there first, off the workers.
class send_file_op : public io_wait {
 public:
  using value_type = std::size_t;
  send_file_op(slot_key on, int file, std::int64_t offset, std::size_t bytes, std::span<const std::byte> head, bool in_memory) noexcept
      : io_wait{on, flow::out}, offset_{offset}, left_{bytes}, head_{head}, file_{file}, in_memory_{in_memory} {}
  [[nodiscard]] result<value_type> take() const noexcept { return failed() ? result<value_type>{error()} : result<value_type>{done_}; }

  /// Instead of beginning it: what goes without waiting for room; nothing, if the disk is to be waited for. Then it has ended. Gives how much went, and an
  /// error only if nothing did.
  [[nodiscard]] result<value_type> send_what_goes(io_slot& on) noexcept;

 private:
  step attempt(io_slot& on) noexcept final;
  [[nodiscard]] bool may_wait_for_disk(io_slot& on) const noexcept;
  [[nodiscard]] bool is_there(std::size_t next, bool is_first) const noexcept;
  [[nodiscard]] bool is_ready(io_slot& on) noexcept;
  [[nodiscard]] ssize_t send_head(io_slot& on, int flags) noexcept;
  std::shared_ptr<read_ahead> ahead_;  ///< while it brings the next bytes
  std::int64_t ready_until_ = -1;      ///< in the file: before that, all was in the cache
  std::int64_t offset_;
  std::size_t left_;
  std::size_t done_ = 0;
  std::span<const std::byte> head_;  ///< what is still to be sent before
  int file_;
  bool in_memory_;  ///< never on a disk
};

}  // namespace tartan::detail
