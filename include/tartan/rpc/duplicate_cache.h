#pragma once
/// Answers to calls that arrive again.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <tartan/buf/chain.h>
#include <tartan/buf/slice.h>
#include <tartan/io/address.h>

namespace tartan::rpc {

/// Remembers replies, so that a procedure runs once although its client sends the call again: over UDP because a datagram may be
/// lost, over TCP after a new connection. A server uses it for procedures that must not run twice; for others it costs more than
/// it saves.
///
/// A server calls begin() when a call arrives, and end() with the reply, or forget() if there will be none. What was not asked for
/// again for the longest time is dropped first.
/// Threads: any. A lock is held for a bounded number of instructions, without an allocation.
/// Limits: settings. Calls in progress are never dropped; while there are as many of them as `entries`, further calls are not
/// remembered. A longer reply than `bytes` is not remembered. A restart of the server loses all.
/// Cost: an allocation for each call and two for each reply; some 300 bytes an entry.
class duplicate_cache {
 public:
  struct settings {
    std::size_t entries = 1024;
    /// Of replies. Parts of a reply that are shorter than 4 KiB are copied, longer ones are kept with the memory that they lie in.
    std::size_t bytes = std::size_t{1024} * 1024;
    /// How long a reply is kept after it was sent, for the first time or again.
    std::chrono::steady_clock::duration keep = std::chrono::minutes{2};
  };

  /// What tells one call from another.
  struct key {
    address peer;
    /// Tells clients apart whose address does not: most clients of a Unix socket have none.
    std::uint64_t connection = 0;
    std::uint32_t xid = 0;
    std::uint32_t program = 0;
    std::uint32_t version = 0;
    std::uint32_t procedure = 0;
    std::uint64_t checksum = 0;  ///< checksum_of the arguments: some clients use an xid again for another call

    bool operator==(const key&) const noexcept = default;
  };

  enum class verdict {
    fresh,        ///< run the procedure
    in_progress,  ///< drop this call: the first one will be answered
    done,         ///< send the reply that begin() has given
  };

  using time_point = std::chrono::steady_clock::time_point;

  duplicate_cache();
  /// Errors: std::bad_alloc.
  explicit duplicate_cache(const settings& with);
  duplicate_cache(const duplicate_cache&) = delete;
  duplicate_cache& operator=(const duplicate_cache&) = delete;
  ~duplicate_cache();

  /// Of the first 256 bytes and the length.
  [[nodiscard]] static std::uint64_t checksum_of(std::span<const buf::slice> arguments) noexcept;

  /// What to do with a call. Appends to `reply` if the verdict is `done`.
  ///
  /// Errors: std::bad_alloc; then the call is remembered no more than before.
  [[nodiscard]] verdict begin(const key& of, time_point now, buf::chain& reply);
  /// The call was answered. Without effect unless the call is in progress here.
  ///
  /// Errors: std::bad_alloc; then the call is still in progress.
  void end(const key& of, const buf::chain& reply, time_point now);
  /// The call will not be answered: the next one like it is fresh. Without effect unless the call is in progress here.
  void forget(const key& of) noexcept;

  /// Calls that are remembered; may be outdated at once.
  [[nodiscard]] std::size_t entries() const noexcept;
  /// Of the replies that are remembered; may be outdated at once.
  [[nodiscard]] std::size_t bytes() const noexcept;

 private:
  class state;
  std::unique_ptr<state> state_;
};

}  // namespace tartan::rpc
