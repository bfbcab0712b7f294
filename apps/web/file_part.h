#pragma once
/// What is to be sent of a large file.

#include <tartan/http/byte_range.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "web/http.h"
#include "web/shared_file.h"

namespace web {

/// A part of a large file, as far as it has not been sent. One thread at a time.
class file_part {
 public:
  file_part(large_file of, http::byte_range what) noexcept : of_{std::move(of)}, rest_{what} {}

  [[nodiscard]] const std::string& name() const noexcept { return of_->name(); }
  [[nodiscard]] http::byte_range rest() const noexcept { return rest_; }
  [[nodiscard]] bool is_over() const noexcept { return rest_.size == 0; }

  /// As shared_file's, of its beginning.
  [[nodiscard]] tartan::result<std::size_t> read_at_hand(std::span<char> into) const noexcept {
    const std::uint64_t brought_here = std::max(brought_to_, rest_.first) - rest_.first;
    return of_->read_at_hand(into.first(std::min<std::uint64_t>(into.size(), rest_.size)), rest_.first, brought_here);
  }
  /// Up to `most` bytes of its beginning, for which the disk may have to be waited for; and has more brought, for read_at_hand. False: as shared_file's.
  ///
  /// Threads: one that may block. Errors: std::bad_alloc.
  [[nodiscard]] bool read(std::string& into, std::size_t most) {
    into.resize(std::min<std::uint64_t>(most, rest_.size));
    const std::uint64_t there = of_->read(into, rest_.first, std::min(brought, rest_.size));
    brought_to_ = rest_.first + there;
    return there != 0;
  }

  /// So much of its beginning was sent.
  void advance(std::size_t bytes) noexcept { rest_ = {rest_.first + bytes, rest_.size - bytes}; }

 private:
  static constexpr std::uint64_t brought = 256 * 1024;

  large_file of_;
  http::byte_range rest_;
  std::uint64_t brought_to_ = 0;  ///< in the file: what lies before that was read lately
};

}  // namespace web
