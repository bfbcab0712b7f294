// The choice between membarrier and fences.
//
// A worker that works on its own queue orders a store before a load millions of times a second; a thief does so a few thousand
// times. With a fence on both sides the worker pays 6 to 12 ns each time. membarrier(PRIVATE_EXPEDITED) lets the thief pay for
// both: the kernel interrupts every CPU that runs a thread of this process and has it execute a full fence; threads that do
// not run have passed one when they were switched out. Old kernels and seccomp filters refuse it, so it is asked for once, at
// run time, before the first worker starts: a pair whose two sides disagree about the kind would order nothing.

#include "core/memory.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

#if defined(__linux__)
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace tartan::detail {

namespace {

#if defined(__linux__) && defined(SYS_membarrier)
bool membarrier(int command) noexcept {
  return ::syscall(SYS_membarrier, command, 0, 0) == 0;
}

// Once registered, a process stays so; a call that is granted now can still be refused by a filter installed later.
bool membarrier_works() noexcept {
  return membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) && membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
}
#else
bool membarrier_works() noexcept {
  return false;
}
#endif

bool refused_by_environment() noexcept {
  const char* value = std::getenv("TARTAN_NO_MEMBARRIER");
  return value != nullptr && std::strcmp(value, "") != 0 && std::strcmp(value, "0") != 0;
}

}  // namespace

barrier_kind choose_barriers() noexcept {
  static const barrier_kind first_choice =
      force_barriers(refused_by_environment() ? barrier_kind::symmetric : barrier_kind::asymmetric);
  static_cast<void>(first_choice);
  return chosen_barriers.load(std::memory_order_relaxed);
}

barrier_kind force_barriers(barrier_kind wanted) noexcept {
  const bool asymmetric = wanted == barrier_kind::asymmetric && membarrier_works();
  const barrier_kind kind = asymmetric ? barrier_kind::asymmetric : barrier_kind::symmetric;
  chosen_barriers.store(kind, std::memory_order_relaxed);
  return kind;
}

void run_membarrier() noexcept {
#if defined(__linux__) && defined(SYS_membarrier)
  if (membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED)) [[likely]] {
    return;
  }
#endif
  std::fputs(
      "tartan: the kernel refuses membarrier although it granted it at start-up (a seccomp filter installed since?); "
      "set TARTAN_NO_MEMBARRIER=1\n",
      stderr);
  std::abort();
}

}  // namespace tartan::detail
