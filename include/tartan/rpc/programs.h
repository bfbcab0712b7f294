#pragma once
/// The programs that a connection serves.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <tartan/rpc/call.h>
#include <utility>
#include <vector>

namespace tartan::rpc {

/// Programs by number and version. Complete before the first connection gets it; then it is shared and does not change.
///
///     rpc::programs all;
///     all.add<KIOSK_V1>(kiosk);
///
/// Lifetime: handlers must outlive all connections that serve them, and the coroutines of their procedures.
class programs {
 public:
  /// Called in the connection's color for each call. It must not block; what takes long goes on in a coroutine.
  using handler = std::function<void(call&&)>;

  struct entry {
    std::uint32_t program;
    std::uint32_t version;
    handler start;
    /// Procedures whose replies a duplicate_cache remembers; empty: all of them but number 0.
    std::function<bool(std::uint32_t)> is_remembered;
  };

  /// A version of a program as tartan-xdr generates it. `to` has a function for each procedure; see procedure.h.
  template <class Version, class Handler>
  programs& add(Handler& to, std::function<bool(std::uint32_t)> is_remembered = {}) {
    return add(
        Version::program, Version::version, [&to](call&& c) { Version::dispatch(to, std::move(c)); },
        std::move(is_remembered));
  }
  /// Errors: std::invalid_argument if that version is there already.
  programs& add(std::uint32_t program, std::uint32_t version, handler start,
                std::function<bool(std::uint32_t)> is_remembered = {});

  /// Null: there is none.
  [[nodiscard]] const entry* find(std::uint32_t program, std::uint32_t version) const noexcept;
  /// The lowest and the highest version of a program; none: there is no such program.
  [[nodiscard]] std::optional<std::pair<std::uint32_t, std::uint32_t>> versions(std::uint32_t program) const noexcept;

 private:
  std::vector<entry> entries_;
};

}  // namespace tartan::rpc
