#include "tests/web/failing_memory.h"

#include <atomic>
#include <new>
#include <tartan/core/event.h>

#include "core/frame_pool_probe.h"
#include "core/runtime_state.h"

namespace {

std::atomic<std::size_t> least{0};  // bytes
std::atomic<std::size_t> most{0};   // bytes; 0: none is looked at
std::atomic<std::size_t> alignment{0};
std::atomic<std::size_t> others{0};
std::atomic<std::size_t> seen{0};

bool is_meant(std::size_t bytes, std::size_t aligned) noexcept {
  if (bytes > most.load(std::memory_order_acquire)) return false;  // pairs with the constructor
  return bytes >= least.load(std::memory_order_relaxed) && aligned == alignment.load(std::memory_order_relaxed);
}

bool fails() noexcept { return seen.fetch_add(1, std::memory_order_relaxed) == others.load(std::memory_order_relaxed); }

}  // namespace

namespace web::test {

failing_memory::failing_memory(const allocations& which, std::size_t behind) noexcept {
  others = behind;
  seen = 0;
  least = which.least;
  alignment = which.alignment;
  most.store(which.most, std::memory_order_release);  // pairs with is_meant
}
failing_memory::~failing_memory() { most = 0; }

std::size_t failing_memory::count() const noexcept { return seen; }

void use_up_frames() { tartan::detail::frame_pool_probe::use_up(tartan::detail::current_runtime()->frames()); }

}  // namespace web::test

// `operator new(std::size_t)`, as the linker knows it: it makes __wrap_x of a call of x, and x of __real_x. A replacement as the language
// has it would leave a sanitizer's other ones without their partner.
extern "C" void* __real__Znwm(std::size_t bytes);
extern "C" void* __wrap__Znwm(std::size_t bytes);
extern "C" void* __wrap__Znwm(std::size_t bytes) {
  if (bytes != 0 && is_meant(bytes, 0) && fails()) throw std::bad_alloc{};
  return __real__Znwm(bytes);
}

extern "C" void* __real_aligned_alloc(std::size_t aligned, std::size_t bytes);
extern "C" void* __wrap_aligned_alloc(std::size_t aligned, std::size_t bytes);
extern "C" void* __wrap_aligned_alloc(std::size_t aligned, std::size_t bytes) {
  if (is_meant(bytes, aligned) && fails()) return nullptr;
  return __real_aligned_alloc(aligned, bytes);
}
