#pragma once
/// A file as it is sent.

#include <cstdint>
#include <ctime>
#include <memory>
#include <string>
#include <string_view>

struct stat;

namespace web {

[[nodiscard]] inline std::int64_t nanoseconds(const std::timespec& t) noexcept { return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec; }

/// Tells one state of a file from another.
struct file_version {
  std::uint64_t device = 0;
  std::uint64_t number = 0;
  std::int64_t size = 0;
  std::int64_t modified_ns = 0;
  std::int64_t changed_ns = 0;  ///< cannot be set by hand, unlike the time of modification

  [[nodiscard]] static file_version of(const struct stat& s) noexcept;
  [[nodiscard]] bool operator==(const file_version&) const noexcept = default;
};

/// What is the same in each response with this file.
struct page {
  std::string head;  ///< status line and headers, up to the date, which is still to come
  std::string body;  ///< empty for a file that is sent from the disk
  file_version version;

  [[nodiscard]] std::size_t bytes() const noexcept { return sizeof *this + head.capacity() + body.capacity(); }
};

/// Never changes once it is shared.
using shared_page = std::shared_ptr<const page>;

/// The head of a page: type by extension, length, time of modification unless that is still to come.
[[nodiscard]] std::string page_head(std::string_view path, const struct stat& s, std::time_t now);

/// As a Content-Type has it; application/octet-stream for an extension that is not known.
[[nodiscard]] std::string_view content_type(std::string_view path) noexcept;

}  // namespace web
