#pragma once
/// Addresses of machines, without a port, and ranges of them.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tartan::http {

/// An address of IPv4 or IPv6. One of IPv4 in the form that IPv6 has for it ("::ffff:192.0.2.1") is the address of IPv4.
///
/// Threads: any.
class ip_address {
 public:
  /// "192.0.2.1" or "2001:db8::1": no port, no brackets, no zone. Nothing: it is none.
  [[nodiscard]] static std::optional<ip_address> parse(std::string_view text) noexcept;
  /// As a header has it in bytes.
  [[nodiscard]] static ip_address of(std::span<const std::uint8_t, 4> bytes) noexcept;
  [[nodiscard]] static ip_address of(std::span<const std::uint8_t, 16> bytes) noexcept;

  [[nodiscard]] bool is_ipv4() const noexcept;
  /// As RFC 5952 has it.
  [[nodiscard]] std::string to_string() const;
  /// Of the IPv6 form.
  [[nodiscard]] std::span<const std::uint8_t, 16> bytes() const noexcept { return bytes_; }

  [[nodiscard]] bool operator==(const ip_address&) const = default;

 private:
  ip_address() = default;

  std::array<std::uint8_t, 16> bytes_{};
};

/// The addresses that begin with the same bits.
///
/// Threads: any.
class ip_range {
 public:
  /// "10.0.0.0/8", "2001:db8::/32", or one address. Nothing: it is none, or has a bit that is not 0 behind the prefix, which is a slip.
  [[nodiscard]] static std::optional<ip_range> parse(std::string_view text) noexcept;

  [[nodiscard]] bool contains(const ip_address& one) const noexcept;

  [[nodiscard]] bool operator==(const ip_range&) const = default;

 private:
  ip_range(const ip_address& first, unsigned prefix) noexcept : first_{first}, prefix_{prefix} {}

  ip_address first_;
  unsigned prefix_;  ///< bits of the IPv6 form
};

}  // namespace tartan::http
