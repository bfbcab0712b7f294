#pragma once
/// Where a socket is, or shall be.

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tartan/core/result.h>

struct sockaddr;

namespace tartan {

/// An IPv4 or IPv6 address with a port, or the path of a Unix socket.
///
/// A value like any other; no name is looked up: numbers only.
class address {
 public:
  /// Nowhere: what unnamed sockets have.
  address() noexcept = default;

  /// "127.0.0.1:80", "[::1]:80", "[fe80::1%2]:80", "unix:/run/x" or "unix:@abstract". ":80" and "*:80" are every IPv4 address.
  ///
  /// Errors: std::errc::invalid_argument.
  [[nodiscard]] static result<address> parse(std::string_view text) noexcept;

  /// 127.0.0.1; port 0: the system picks one.
  [[nodiscard]] static address loopback(std::uint16_t port) noexcept;

  /// Errors: std::errc::filename_too_long beyond 107 bytes. A leading '@' names an abstract socket, which is no file.
  [[nodiscard]] static result<address> unix_path(std::string_view path) noexcept;

  /// As parse takes it; empty for nowhere.
  [[nodiscard]] std::string to_string() const;

  [[nodiscard]] bool is_ip() const noexcept;
  [[nodiscard]] bool is_unix() const noexcept;
  /// 0 unless it is an IP address.
  [[nodiscard]] std::uint16_t port() const noexcept;
  [[nodiscard]] address with_port(std::uint16_t port) const noexcept;

  [[nodiscard]] bool operator==(const address& other) const noexcept;

  /// For system calls: a sockaddr and its length.
  [[nodiscard]] const sockaddr* data() const noexcept { return reinterpret_cast<const sockaddr*>(bytes_.data()); }
  [[nodiscard]] unsigned size() const noexcept { return size_; }
  [[nodiscard]] int family() const noexcept;
  /// From what a system call has filled in.
  [[nodiscard]] static address from(const sockaddr* data, unsigned size) noexcept;

 private:
  static constexpr std::size_t capacity = 112;  // of a sockaddr_un, rounded up
  alignas(8) std::array<std::byte, capacity> bytes_{};
  unsigned size_ = 0;
};

}  // namespace tartan
