#include "io/event_bell.h"

#include <cerrno>
#include <cstdint>
#include <string>
#include <system_error>

#include "core/fatal.h"

namespace tartan::detail {

event_bell::event_bell(const bell_calls& calls) : calls_{calls}, held_{calls.eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)} {
  if (held_.get() < 0) throw std::system_error{errno, std::system_category(), "eventfd"};
}

void event_bell::ring() const noexcept {
  const int errno_before = errno;  // a signal handler's caller may be about to read it
  const std::uint64_t one = 1;
  while (calls_.write(descriptor(), &one, sizeof one) < 0 && errno != EAGAIN) {  // EAGAIN: it was rung 2^64 times
    if (errno != EINTR) fatal({"write to an eventfd failed with errno ", std::to_string(errno), "; workers cannot be woken"});
  }
  errno = errno_before;
}

void event_bell::silence() const noexcept {
  std::uint64_t times = 0;
  while (calls_.read(descriptor(), &times, sizeof times) < 0 && errno != EAGAIN) {  // EAGAIN: another thread was first
    if (errno != EINTR) fatal({"read of an eventfd failed with errno ", std::to_string(errno), "; workers cannot sleep here"});
  }
}

}  // namespace tartan::detail
