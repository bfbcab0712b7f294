#pragma once
/// The kernel's sockets, and epoll.

#include <cstdint>

#include "io/epoll/epoll_source.h"
#include "io/system.h"

namespace tartan::detail {

/// The kernel's calls, one for one, with one epoll descriptor for all.
class epoll_system final : public io_system {
 public:
  /// Errors: std::system_error.
  explicit epoll_system(unsigned workers) : source_{workers} {}

  [[nodiscard]] epoll_source& source() noexcept { return source_; }

  bool is_kernel() const noexcept override { return true; }
  void report_to(readiness_ledger& ledger) noexcept override { source_.report_to(ledger); }

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
  ssize_t send_file(int descriptor, int file, std::int64_t* offset, std::size_t bytes) noexcept override;
  int unblock(int descriptor) noexcept override;
  void close(int descriptor) noexcept override;
  int watch(int descriptor, std::uint64_t mark) noexcept override { return source_.watch(descriptor, mark); }
  int watch_output(int descriptor, std::uint64_t mark) noexcept override { return source_.watch_output(descriptor, mark); }
  void forget(int descriptor) noexcept override { source_.forget(descriptor); }

 private:
  epoll_source source_;
};

}  // namespace tartan::detail
