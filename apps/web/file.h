#pragma once
/// An open file.

#include <unistd.h>

#include <utility>

namespace web {

/// Owns a descriptor.
class file {
 public:
  file() noexcept = default;
  explicit file(int descriptor) noexcept : descriptor_{descriptor} {}
  file(file&& other) noexcept : descriptor_{std::exchange(other.descriptor_, -1)} {}
  file& operator=(file&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~file() { close(); }

  [[nodiscard]] bool is_open() const noexcept { return descriptor_ >= 0; }
  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }
  void close() noexcept {
    if (is_open()) ::close(std::exchange(descriptor_, -1));
  }

 private:
  int descriptor_ = -1;
};

}  // namespace web
