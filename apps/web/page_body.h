#pragma once
/// The bytes of a page.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "file.h"

namespace web {

/// Memory that the kernel can send from without copying it: a file without a name (memfd_create).
///
/// No byte of it is written twice: what a packet that is still on its way refers to stays as it was, however long it takes. So a place in it is
/// given out once, and the memory behind it goes back to the system when its owner goes; of the 2^63 bytes that such a file may have there is no end.
/// Threads: any.
class page_memory {
 public:
  /// Nothing can be kept in it if the system has none.
  page_memory() noexcept;

  [[nodiscard]] int descriptor() const noexcept { return file_.descriptor(); }

  /// Gives where the text is now; negative if the system has no memory for it.
  [[nodiscard]] std::int64_t add(std::string_view text) const noexcept;
  void remove(std::int64_t at, std::size_t bytes) const noexcept;

 private:
  file file_;
  mutable std::atomic<std::int64_t> next_{0};  ///< relaxed: a number that nobody else has
};

/// Never changes once it is shared. What is short is a string.
class page_body {
 public:
  page_body() noexcept = default;
  explicit page_body(std::string text) noexcept : text_{std::move(text)} {}
  /// In `memory`, if it is there, has room, and the text is so long that this pays.
  page_body(std::string text, std::shared_ptr<const page_memory> memory) noexcept;
  page_body(page_body&& other) noexcept;
  page_body& operator=(page_body&& other) noexcept;
  ~page_body();

  [[nodiscard]] std::string_view text() const noexcept { return mapped_.data() != nullptr ? mapped_ : std::string_view{text_}; }
  [[nodiscard]] std::size_t size() const noexcept { return text().size(); }
  /// Of memory.
  [[nodiscard]] std::size_t bytes() const noexcept;

  /// Whether the kernel can send it from `descriptor`, where it begins at `first`.
  [[nodiscard]] bool is_sendable() const noexcept { return mapped_.data() != nullptr; }
  [[nodiscard]] int descriptor() const noexcept { return memory_->descriptor(); }
  [[nodiscard]] std::uint64_t first() const noexcept { return static_cast<std::uint64_t>(first_); }

  static constexpr std::size_t least_sent = 8 * 1024;  ///< a shorter text is copied for less than it costs to send it from there

 private:
  std::string text_;
  std::string_view mapped_;  ///< else: where the text in memory_ can be read
  std::shared_ptr<const page_memory> memory_;
  std::int64_t first_ = 0;
};

}  // namespace web
