#include "io/event_bell.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <cerrno>
#include <system_error>

namespace tartan::detail {
namespace {

bool rings(const event_bell& bell) {
  pollfd entry{bell.descriptor(), POLLIN, 0};
  return ::poll(&entry, 1, 0) == 1;
}

TEST(event_bell, rings_until_it_is_silenced) {
  const event_bell bell{{}};
  EXPECT_FALSE(rings(bell));
  bell.ring();
  bell.ring();
  EXPECT_TRUE(rings(bell));
  bell.silence();
  EXPECT_FALSE(rings(bell));
  bell.silence();
  bell.ring();
  EXPECT_TRUE(rings(bell));
}

TEST(event_bell, leaves_errno_alone_when_it_rings_and_goes_on_after_signals) {
  static int interruptions = 0;
  bell_calls calls;
  calls.write = [](int descriptor, const void* from, std::size_t size) -> ssize_t {
    if (interruptions-- <= 0) return ::write(descriptor, from, size);
    errno = EINTR;
    return -1;
  };
  calls.read = [](int descriptor, void* into, std::size_t size) -> ssize_t {
    if (interruptions-- <= 0) return ::read(descriptor, into, size);
    errno = EINTR;
    return -1;
  };
  const event_bell bell{calls};
  errno = ERANGE;
  interruptions = 2;
  bell.ring();
  EXPECT_EQ(errno, ERANGE);
  EXPECT_TRUE(rings(bell));
  interruptions = 2;
  bell.silence();
  EXPECT_FALSE(rings(bell));
}

TEST(event_bell, rings_though_it_is_full) {
  bell_calls calls;
  calls.write = [](int, const void*, std::size_t) -> ssize_t {
    errno = EAGAIN;
    return -1;
  };
  const event_bell bell{calls};
  errno = ERANGE;
  bell.ring();
  EXPECT_EQ(errno, ERANGE);
}

TEST(event_bell, that_cannot_be_made_is_an_error) {
  bell_calls calls;
  calls.eventfd = [](unsigned, int) {
    errno = ENFILE;
    return -1;
  };
  try {
    const event_bell bell{calls};
    ADD_FAILURE();
  } catch (const std::system_error& e) {
    EXPECT_EQ(e.code(), std::errc::too_many_files_open_in_system);
  }
}

/// Ends the program.
void break_down() {
  bell_calls calls;
  calls.write = [](int, const void*, std::size_t) -> ssize_t {
    errno = EIO;
    return -1;
  };
  event_bell{calls}.ring();
}
void break_down_silently() {
  bell_calls calls;
  calls.read = [](int, void*, std::size_t) -> ssize_t {
    errno = EIO;
    return -1;
  };
  event_bell{calls}.silence();
}

TEST(event_bell, that_breaks_ends_the_program_with_the_reason) {
  EXPECT_DEATH(break_down(), "write to an eventfd failed with errno 5; workers cannot be woken");
  EXPECT_DEATH(break_down_silently(), "read of an eventfd failed with errno 5; workers cannot sleep here");
}

}  // namespace
}  // namespace tartan::detail
