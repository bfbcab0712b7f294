#pragma once
/// Memory that runs out.

#include <cstddef>

namespace web::test {

/// While it lives, the next allocation by `new` of exactly so many bytes fails. One at a time.
class failing_memory {
 public:
  explicit failing_memory(std::size_t bytes) noexcept;
  failing_memory(const failing_memory&) = delete;
  failing_memory& operator=(const failing_memory&) = delete;
  ~failing_memory();
};

}  // namespace web::test
