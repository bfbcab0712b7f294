#pragma once
/// The bytes of a page.

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "web/file.h"

namespace web {

/// Never changes once it is shared. What is short is a string; the rest lies in a file without a name (memfd_create), from which the kernel can send
/// it without a copy, and which is mapped for who reads it here.
///
/// Each has a file of its own, written once. What a packet that is still on its way refers to is then never written again, nor cut out of what
/// stays: that would fill it with zeros, where the system keeps a part in one piece with others.
/// Threads: made on one that may block.
/// Limits: 1024 files of this process, and a sixteenth of its descriptors; what is made then is a string.
class page_body {
 public:
  page_body() noexcept = default;
  /// If the system has no file for it, it stays a string.
  explicit page_body(std::string text) noexcept;
  page_body(page_body&& other) noexcept;
  page_body& operator=(page_body&& other) noexcept;
  ~page_body();

  [[nodiscard]] std::string_view text() const noexcept { return is_sendable() ? mapped_ : std::string_view{text_}; }
  [[nodiscard]] std::size_t size() const noexcept { return text().size(); }
  /// Of memory.
  [[nodiscard]] std::size_t bytes() const noexcept { return is_sendable() ? mapped_.size() + file_costs : text_.capacity(); }

  /// Whether the kernel can send it from `descriptor`, where it is all there is.
  [[nodiscard]] bool is_sendable() const noexcept { return file_.is_open(); }
  [[nodiscard]] int descriptor() const noexcept { return file_.descriptor(); }

  /// Bytes of all that there are in this process. Threads: any.
  [[nodiscard]] static std::size_t living() noexcept;

  static constexpr std::size_t least_sent = 8 * 1024;  ///< a shorter text is copied for less than it costs to send it from there
  static constexpr int most_files = 1024;

 private:
  static constexpr std::size_t file_costs = 4 * 1024;  ///< the rest of its last page, and what the system knows of it

  std::string text_;
  file file_;
  std::string_view mapped_;  ///< what file_ has
};

}  // namespace web
