#pragma once
/// How much memory a test takes: its operator new counts (memory_count.cpp).

#include <cstddef>

namespace tartan::xdr::test {

/// Counts what this thread takes and gives back from now on.
class memory_count {
 public:
  memory_count() noexcept;
  memory_count(const memory_count&) = delete;
  memory_count& operator=(const memory_count&) = delete;
  ~memory_count();

  /// The most that was taken at one time.
  [[nodiscard]] std::size_t most() const noexcept;
};

}  // namespace tartan::xdr::test
