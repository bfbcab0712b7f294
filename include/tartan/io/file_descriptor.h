#pragma once
/// Who closes a descriptor. Library code; programs use file.h.

#include <system_error>
#include <utility>

namespace tartan::detail {

/// A descriptor until it is given away or closed, or none (-1).
class file_descriptor {
 public:
  file_descriptor() noexcept = default;
  explicit file_descriptor(int descriptor) noexcept : descriptor_{descriptor} {}
  file_descriptor(file_descriptor&& other) noexcept : descriptor_{other.give()} {}
  file_descriptor& operator=(file_descriptor&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~file_descriptor() { static_cast<void>(close()); }

  [[nodiscard]] int get() const noexcept { return descriptor_; }
  [[nodiscard]] int give() noexcept { return std::exchange(descriptor_, -1); }
  /// Closes it now, which may block.
  [[nodiscard]] std::error_code close() noexcept;

 private:
  int descriptor_ = -1;
};

}  // namespace tartan::detail
