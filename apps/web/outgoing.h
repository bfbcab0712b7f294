#pragma once
/// Responses on their way.

#include <tartan/http/byte_range.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "web/http.h"
#include "web/page.h"
#include "web/shared_file.h"

namespace web {

struct worker_store;

/// Text that is to be written, and behind it parts of a page or of a file.
struct outgoing {
  std::string text;
  shared_page kept;  ///< whose content comes behind the text, from memory;
  large_file large;  ///< or this one's, from the disk
  std::vector<http::byte_range> parts;  ///< of it
  std::vector<std::string> frame;       ///< what is sent before each of them, and behind the last one

  [[nodiscard]] bool has_more() const noexcept { return large != nullptr || kept != nullptr; }
  [[nodiscard]] bool is_empty() const noexcept { return text.empty() && !has_more(); }
  /// Of the page or the file, with what stands around its parts.
  [[nodiscard]] std::uint64_t bytes_behind() const noexcept;

  /// Of a page in memory of which one part comes behind the text: up to `most` bytes that leave with the text.
  [[nodiscard]] std::string_view take_first_piece(std::size_t most) noexcept;
  /// So much of it was not sent.
  void untake(std::size_t bytes) noexcept;

  /// The worker's buffer, if that is larger than its own.
  void take_buffer(worker_store& from);
  /// Gives the buffer to the worker, for a wait may be long; what is in it is lost. One that a large page has made large is freed.
  void leave_buffer(worker_store& to);

  void clear() noexcept {
    text.clear();
    kept = nullptr;
    large = nullptr;
  }
};

}  // namespace web
