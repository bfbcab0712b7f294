#pragma once
/// Counts what a call does, instruction by instruction: what the processor runs, not what somebody has thought of counting.

#include <csignal>
#include <cstddef>
#include <cstdint>

#include "core/memory.h"

/// 0: another processor; or ThreadSanitizer, which puts calls of its own in the place of every access.
#if defined(__x86_64__) && defined(__linux__) && !TARTAN_THREAD_SANITIZER
#define TARTAN_COUNTS_INSTRUCTIONS 1
#else
#define TARTAN_COUNTS_INSTRUCTIONS 0
#endif

#if TARTAN_COUNTS_INSTRUCTIONS

#include <ucontext.h>

namespace tartan::test {

/// What the calling thread did.
struct work_done {
  std::uint64_t instructions = 0;
  std::uint64_t read_modify_writes = 0;  ///< atomic ones
  std::uint64_t fences = 0;              ///< full ones
  std::uint64_t system_calls = 0;
};

namespace detail {

/// Of the thread that counts; null: none does.
inline thread_local work_done* volatile counting = nullptr;

constexpr std::uint64_t trap_flag = 0x100;

enum class ordering { none, read_modify_write, fence };

/// What an instruction does to the order of others.
inline ordering ordering_of(const std::uint8_t* at) noexcept {
  bool locked = false;
  for (;; ++at) {
    const bool legacy_prefix = *at == 0x66 || *at == 0x67 || *at == 0xf2 || *at == 0xf3 || *at == 0x2e || *at == 0x36 || *at == 0x3e ||
                               *at == 0x26 || *at == 0x64 || *at == 0x65;
    if (*at == 0xf0) locked = true;
    if (!legacy_prefix && *at != 0xf0) break;
  }
  if ((*at & 0xf0) == 0x40) ++at;  // REX
  if (at[0] == 0x0f && at[1] == 0xae && at[2] == 0xf0) return ordering::fence;  // mfence
  // Compilers prefer lock or [rsp + ...], 0: the same, and faster.
  if (locked && at[0] == 0x83 && (at[1] & 0x3f) == 0x0c && at[2] == 0x24) return ordering::fence;
  const bool exchange = (at[0] == 0x86 || at[0] == 0x87) && at[1] < 0xc0;  // with memory: locks without a prefix
  return locked || exchange ? ordering::read_modify_write : ordering::none;
}

/// Before each instruction.
inline void count_instruction(int, siginfo_t*, void* context) noexcept {
  auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  work_done* const count = counting;
  if (count == nullptr) {
    registers[REG_EFL] &= ~static_cast<greg_t>(trap_flag);
    return;
  }
  const auto* const at = reinterpret_cast<const std::uint8_t*>(registers[REG_RIP]);
  ++count->instructions;
  const ordering order = ordering_of(at);
  if (order == ordering::read_modify_write) ++count->read_modify_writes;
  if (order == ordering::fence) ++count->fences;
  if (at[0] == 0x0f && at[1] == 0x05) ++count->system_calls;
}

}  // namespace detail

/// Runs f, one instruction at a time: a thousand times as slow. Not nested.
template <class F>
[[gnu::noinline]] work_done count_work(F&& f) {
  struct sigaction action{};
  struct sigaction before{};
  action.sa_sigaction = &detail::count_instruction;
  action.sa_flags = SA_SIGINFO;
  ::sigemptyset(&action.sa_mask);
  ::sigaction(SIGTRAP, &action, &before);
  work_done done;
  detail::counting = &done;
  // The flags lie below the red zone of this frame, which a push would write to.
  asm volatile("lea -128(%%rsp), %%rsp\n\tpushfq\n\torl $0x100, (%%rsp)\n\tpopfq\n\tlea 128(%%rsp), %%rsp" ::: "memory", "cc");
  f();
  detail::counting = nullptr;
  asm volatile("nop\n\tnop" ::: "memory");  // the handler clears the trap flag at one of these
  ::sigaction(SIGTRAP, &before, nullptr);
  return done;
}

}  // namespace tartan::test

#endif
