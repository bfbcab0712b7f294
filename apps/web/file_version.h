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

  /// False before 1980-01-01. Package stores and reproducible images date every file 0 or 1 s after 1970 (1980 is the
  /// first year of zip archives), so such a time does not tell one state of a file from the next.
  [[nodiscard]] bool is_credible() const noexcept { return seconds >= 315'532'800; }
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
