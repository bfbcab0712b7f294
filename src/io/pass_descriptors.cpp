#include <tartan/io/pass_descriptors.h>

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "io/service.h"

namespace tartan::detail {

namespace {

using local::max_passed_descriptors;

constexpr std::size_t most_bytes = std::size_t{1} << 20;  ///< of one attempt

/// Room for as many descriptors as one message may bring.
struct control_room {
  alignas(cmsghdr) std::array<std::byte, CMSG_SPACE(max_passed_descriptors * sizeof(int))> bytes{};
};

void attach(msghdr& message, control_room& room, std::span<const int> descriptors) noexcept {
  message.msg_control = room.bytes.data();
  message.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
  cmsghdr* const head = CMSG_FIRSTHDR(&message);
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_RIGHTS;
  head->cmsg_len = CMSG_LEN(descriptors.size_bytes());
  std::memcpy(CMSG_DATA(head), descriptors.data(), descriptors.size_bytes());
}

/// The descriptors of a message; they are open.
struct arrived {
  std::array<int, max_passed_descriptors> all{};
  std::size_t count = 0;
};

arrived collect(msghdr& message) noexcept {
  arrived found;
  for (cmsghdr* head = CMSG_FIRSTHDR(&message); head != nullptr; head = CMSG_NXTHDR(&message, head)) {
    if (head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = std::min((head->cmsg_len - CMSG_LEN(0)) / sizeof(int), found.all.size() - found.count);
    std::memcpy(found.all.data() + found.count, CMSG_DATA(head), count * sizeof(int));
    found.count += count;
  }
  return found;
}

}  // namespace

io_wait::step send_with_op::attempt(io_slot& on) noexcept {
  if (all_.empty() || descriptors_.size() > max_passed_descriptors) return fail(EINVAL);
  io_system& system = on.service().system();
  for (std::size_t moved = 0; done_ < all_.size();) {
    if (moved >= most_bytes) return step::goes_on;
    const std::span<const std::byte> rest = all_.subspan(done_);
    iovec part{const_cast<std::byte*>(rest.data()), rest.size()};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    control_room room;
    if (done_ == 0 && !descriptors_.empty()) attach(message, room, descriptors_);
    const ssize_t got = system.send_message(on.descriptor(), message, 0);
    if (got == -EINTR) continue;
    if (got == -EAGAIN || got == -EWOULDBLOCK) return step::would_block;
    if (got < 0) return fail(static_cast<int>(-got));
    done_ += static_cast<std::size_t>(got);
    moved += static_cast<std::size_t>(got);
  }
  return step::done;
}

io_wait::step receive_with_op::attempt(io_slot& on) noexcept {
  io_system& system = on.service().system();
  iovec part{into_.data(), into_.size()};
  control_room room;
  msghdr message{};
  ssize_t got = 0;
  do {
    message = {};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = room.bytes.data();
    message.msg_controllen = room.bytes.size();
    got = system.receive_message(on.descriptor(), message);
  } while (got == -EINTR);
  if (got == -EAGAIN || got == -EWOULDBLOCK) return step::would_block;
  if (got < 0) return fail(static_cast<int>(-got));
  const arrived came = collect(message);
  if ((message.msg_flags & MSG_CTRUNC) != 0 || came.count > descriptors_.size()) {
    for (std::size_t n = 0; n < came.count; ++n) system.close(came.all[n]);
    return fail(std::make_error_code(std::errc::message_size));
  }
  if (got == 0 && !into_.empty()) return fail(make_error_code(errc::end_of_stream));
  std::copy_n(came.all.begin(), came.count, descriptors_.begin());
  got_ = {static_cast<std::size_t>(got), came.count};
  return step::done;
}

}  // namespace tartan::detail
