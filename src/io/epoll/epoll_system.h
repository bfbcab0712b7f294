#pragma once
/// The kernel's sockets, and epoll.

#include <cstdint>
#include <memory>
#include <vector>

#include "core/readiness_source.h"
#include "io/system.h"

namespace tartan::detail {

/// One edge-triggered epoll descriptor for all workers, and an eventfd in it by which they are called.
///
/// Every idle worker sleeps in it, and the kernel wakes one for each edge: the one that went to sleep last, whose caches are warm.
/// No protocol of ours decides who polls.
class epoll_system final : public io_system, public readiness_source {
 public:
  /// Errors: std::system_error.
  explicit epoll_system(unsigned workers);
  ~epoll_system() override;

  bool is_kernel() const noexcept override { return true; }
  void report_to(readiness_ledger& ledger) noexcept override { ledger_ = &ledger; }

  [[nodiscard]] ended_by wait(unsigned worker, std::uint64_t at_most_ns) noexcept override;
  void call() noexcept override;
  void deliver(unsigned worker) noexcept override;
  bool harvest(unsigned worker) noexcept override;

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
  int watch(int descriptor, std::uint64_t mark) noexcept override;
  void forget(int descriptor) noexcept override;

 private:
  struct haul;

  int collect(haul& into, std::uint64_t at_most_ns) noexcept;
  bool post(haul& from) noexcept;

  readiness_ledger* ledger_ = nullptr;
  int epoll_ = -1;
  int bell_ = -1;  ///< the eventfd
  std::vector<std::unique_ptr<haul>> hauls_;
};

}  // namespace tartan::detail
