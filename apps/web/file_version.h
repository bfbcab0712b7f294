#pragma once
/// The state that a file is in.

#include <compare>
#include <cstdint>
#include <ctime>

struct stat;

namespace web {

/// As files have it: any year, so in one number of nanoseconds there is no room for it.
struct file_time {
  std::int64_t seconds = 0;
  std::int64_t nanoseconds = 0;

  [[nodiscard]] static file_time of(const std::timespec& t) noexcept { return {t.tv_sec, t.tv_nsec}; }
  [[nodiscard]] auto operator<=>(const file_time&) const noexcept = default;
};

/// Tells one state of a file from another.
struct file_version {
  std::uint64_t device = 0;
  std::uint64_t number = 0;
  std::int64_t size = 0;
  file_time modified;
  file_time changed;  ///< cannot be set by hand, unlike the time of modification

  [[nodiscard]] static file_version of(const struct stat& s) noexcept;
  [[nodiscard]] bool operator==(const file_version&) const noexcept = default;
};

}  // namespace web
