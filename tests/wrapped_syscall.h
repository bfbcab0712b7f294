#pragma once
/// For test programs in which the linker makes __wrap_syscall of each call of syscall, and syscall of __real_syscall.

#include <cstdarg>

extern "C" long __real_syscall(long number, ...);

namespace tartan::test {

/// The real one, with all the arguments that there may be: nobody knows how many there are, so AddressSanitizer must not look.
[[gnu::no_sanitize_address]] inline long real_syscall(long number, va_list more) {
  long all[6];
  for (long& each : all) each = va_arg(more, long);
  return __real_syscall(number, all[0], all[1], all[2], all[3], all[4], all[5]);
}

}  // namespace tartan::test
