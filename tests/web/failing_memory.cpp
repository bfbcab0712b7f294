#include "tests/web/failing_memory.h"

#include <atomic>
#include <new>

namespace {

std::atomic<std::size_t> fails_at{0};  // bytes; 0: never

}  // namespace

namespace web::test {

failing_memory::failing_memory(std::size_t bytes) noexcept { fails_at = bytes; }
failing_memory::~failing_memory() { fails_at = 0; }

}  // namespace web::test

// `operator new(std::size_t)`, as the linker knows it: it makes __wrap_x of a call of x, and x of __real_x. A replacement as the language
// has it would leave a sanitizer's other ones without their partner.
extern "C" void* __real__Znwm(std::size_t bytes);
extern "C" void* __wrap__Znwm(std::size_t bytes);
extern "C" void* __wrap__Znwm(std::size_t bytes) {
  std::size_t expected = bytes;
  if (bytes != 0 && fails_at.load(std::memory_order_relaxed) == bytes && fails_at.compare_exchange_strong(expected, 0)) throw std::bad_alloc{};
  return __real__Znwm(bytes);
}
