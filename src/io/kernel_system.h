#pragma once
/// The kernel's sockets and pipes, wherever their readiness comes from.

#include <cstdint>

#include "io/system.h"

namespace tartan::detail {

/// The kernel's calls, one for one.
class kernel_system : public io_system {
 public:
  /// `pipe_signal_ignored`: this program ignores SIGPIPE, so nothing has to keep it away (options.h).
  explicit kernel_system(bool pipe_signal_ignored) noexcept : holds_pipe_signal_{!pipe_signal_ignored} {}

  bool is_kernel() const noexcept final { return true; }

  int open_socket(int domain, int type, int protocol) noexcept override;
  int open_pair(int domain, int type, int ends[2]) noexcept override;
  int open_pipe(int ends[2]) noexcept override;
  int bind(int descriptor, const sockaddr* at, socklen_t length) noexcept override;
  int listen(int descriptor, int backlog) noexcept override;
  int accept(int descriptor, sockaddr* peer, socklen_t* length) noexcept override;
  int connect(int descriptor, const sockaddr* to, socklen_t length) noexcept override;
  int shut_down(int descriptor, int how) noexcept override;
  int set_option(int descriptor, int level, int name, const void* value, socklen_t length) noexcept override;
  int get_option(int descriptor, int level, int name, void* value, socklen_t* length) noexcept override;
  int local_address(int descriptor, sockaddr* into, socklen_t* length) noexcept override;
  int peer_address(int descriptor, sockaddr* into, socklen_t* length) noexcept override;
  ssize_t read(int descriptor, void* into, std::size_t bytes) noexcept override;
  ssize_t receive(int descriptor, void* into, std::size_t bytes) noexcept override;
  ssize_t receive_message(int descriptor, msghdr& message) noexcept override;
  ssize_t write(int descriptor, const iovec* parts, std::size_t count) noexcept override;
  ssize_t send(int descriptor, const void* from, std::size_t bytes) noexcept override;
  ssize_t send_message(int descriptor, const msghdr& message, int flags) noexcept override;
  int receive_messages(int descriptor, mmsghdr* messages, unsigned count) noexcept override;
  int send_messages(int descriptor, mmsghdr* messages, unsigned count) noexcept override;
  ssize_t send_file(int descriptor, int file, std::int64_t* offset, std::size_t bytes) noexcept override;
  int unblock(int descriptor) noexcept override;
  void block(int descriptor) noexcept override;
  int duplicate(int descriptor) noexcept override;
  int is_ready(int descriptor, flow way, int lent) noexcept override;
  void close(int descriptor) noexcept override;

 private:
  bool holds_pipe_signal_;
};

}  // namespace tartan::detail
