// What the compiler calls before each access to memory, and instead of each atomic operation, in sources that it compiles with
// -fsanitize=thread. Not linked with ThreadSanitizer's own library: here each of them is charged to the core that runs.
//
// There is one thread, so an atomic operation is a plain one; what its order costs is in the constants.

#include <cstddef>
#include <cstdint>

#include "simulation/sequencer.h"

// The compiler's declarations are its own; their names and types are fixed.
#pragma GCC diagnostic ignored "-Wbuiltin-declaration-mismatch"

using simulation::touch_kind;

namespace {

inline void charge(const volatile void* address, std::size_t size, touch_kind how) noexcept {
  if (simulation::running != nullptr) simulation::running->touch(address, size, how);
}
inline void charge_atomic(const volatile void* address, touch_kind how) noexcept {
  if (simulation::running != nullptr) simulation::running->touch_atomic(address, how);
}

}  // namespace

extern "C" {

void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit(void*) {}

void __tsan_vptr_read(void** at) { charge(at, sizeof *at, touch_kind::load); }
void __tsan_vptr_update(void** at, void*) { charge(at, sizeof *at, touch_kind::store); }
void __tsan_read_range(void* at, unsigned long size) { charge(at, size, touch_kind::load); }
void __tsan_write_range(void* at, unsigned long size) { charge(at, size, touch_kind::store); }

#define TARTAN_PLAIN(size)                                                           \
  void __tsan_read##size(void* at) { charge(at, size, touch_kind::load); }               \
  void __tsan_write##size(void* at) { charge(at, size, touch_kind::store); }             \
  void __tsan_unaligned_read##size(void* at) { charge(at, size, touch_kind::load); }     \
  void __tsan_unaligned_write##size(void* at) { charge(at, size, touch_kind::store); }

TARTAN_PLAIN(1)
TARTAN_PLAIN(2)
TARTAN_PLAIN(4)
TARTAN_PLAIN(8)
TARTAN_PLAIN(16)

#define TARTAN_CHANGE(bits, type, name, expression)                       \
  type __tsan_atomic##bits##_##name(volatile type* at, type value, int) { \
    charge_atomic(at, touch_kind::rmw);                                       \
    const type before = *at;                                              \
    *at = static_cast<type>(expression);                                  \
    return before;                                                        \
  }

#define TARTAN_COMPARE(bits, type, name)                                                              \
  int __tsan_atomic##bits##_compare_exchange_##name(volatile type* at, type* expected, type desired, int, int) { \
    charge_atomic(at, touch_kind::rmw);                                                                   \
    const type before = *at;                                                                          \
    if (before != *expected) {                                                                        \
      *expected = before;                                                                             \
      return 0;                                                                                       \
    }                                                                                                 \
    *at = desired;                                                                                    \
    return 1;                                                                                         \
  }

#define TARTAN_ATOMIC(bits, type)                                        \
  type __tsan_atomic##bits##_load(const volatile type* at, int) {        \
    charge_atomic(at, touch_kind::load);                                     \
    return *at;                                                          \
  }                                                                      \
  void __tsan_atomic##bits##_store(volatile type* at, type value, int order) { \
    charge_atomic(at, order == __ATOMIC_SEQ_CST ? touch_kind::rmw : touch_kind::store); \
    *at = value;                                                         \
  }                                                                      \
  TARTAN_CHANGE(bits, type, exchange, value)                             \
  TARTAN_CHANGE(bits, type, fetch_add, before + value)                   \
  TARTAN_CHANGE(bits, type, fetch_sub, before - value)                   \
  TARTAN_CHANGE(bits, type, fetch_and, before & value)                   \
  TARTAN_CHANGE(bits, type, fetch_or, before | value)                    \
  TARTAN_CHANGE(bits, type, fetch_xor, before ^ value)                   \
  TARTAN_COMPARE(bits, type, strong)                                     \
  TARTAN_COMPARE(bits, type, weak)

TARTAN_ATOMIC(8, std::uint8_t)
TARTAN_ATOMIC(16, std::uint16_t)
TARTAN_ATOMIC(32, std::uint32_t)
TARTAN_ATOMIC(64, std::uint64_t)

void __tsan_atomic_thread_fence(int order) {
  if (simulation::running == nullptr) return;
  simulation::running->take_turn();
  if (order == __ATOMIC_SEQ_CST) simulation::running->spend(simulation::running->on().fence);
}
void __tsan_atomic_signal_fence(int) {}

}  // extern "C"
