#pragma once
/// The system calls of sockets and pipes: those of the kernel, or of a simulated one.

#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <system_error>
#include <tartan/io/wait.h>

namespace tartan::detail {

/// Of what a call below gave.
[[nodiscard]] inline std::error_code system_error(int negative) noexcept { return {-negative, std::system_category()}; }

/// Gets the edges.
class readiness_ledger {
 public:
  /// Bits as in readiness. Gives whether an event was posted. Threads: any worker.
  virtual bool ready(std::uint64_t mark, std::uint32_t bits) noexcept = 0;

 protected:
  ~readiness_ledger() = default;
};

/// What an operation asks of the system. Every call gives -errno instead of setting errno, and never blocks: descriptors are made
/// non-blocking and close-on-exec.
///
/// Threads: any.
class io_system {
 public:
  io_system() = default;
  io_system(const io_system&) = delete;
  io_system& operator=(const io_system&) = delete;
  virtual ~io_system() = default;

  /// Whether its descriptors are the kernel's, so that others than sockets and pipes can be watched too.
  [[nodiscard]] virtual bool is_kernel() const noexcept { return false; }

  /// Told the same ledger each time; edges that come before are kept.
  virtual void report_to(readiness_ledger& ledger) noexcept = 0;

  [[nodiscard]] virtual int open_socket(int domain, int type, int protocol) noexcept = 0;
  [[nodiscard]] virtual int open_pair(int domain, int type, int ends[2]) noexcept = 0;
  [[nodiscard]] virtual int open_pipe(int ends[2]) noexcept = 0;
  [[nodiscard]] virtual int bind(int descriptor, const sockaddr* at, socklen_t length) noexcept = 0;
  [[nodiscard]] virtual int listen(int descriptor, int backlog) noexcept = 0;
  /// The peer's address is written to `peer` if that is not null.
  [[nodiscard]] virtual int accept(int descriptor, sockaddr* peer, socklen_t* length) noexcept = 0;
  [[nodiscard]] virtual int connect(int descriptor, const sockaddr* to, socklen_t length) noexcept = 0;
  [[nodiscard]] virtual int shut_down(int descriptor, int how) noexcept = 0;
  [[nodiscard]] virtual int set_option(int descriptor, int level, int name, const void* value, socklen_t length) noexcept = 0;
  [[nodiscard]] virtual int get_option(int descriptor, int level, int name, void* value, socklen_t* length) noexcept = 0;
  [[nodiscard]] virtual int local_address(int descriptor, sockaddr* into, socklen_t* length) noexcept = 0;
  [[nodiscard]] virtual int peer_address(int descriptor, sockaddr* into, socklen_t* length) noexcept = 0;

  [[nodiscard]] virtual ssize_t read(int descriptor, void* into, std::size_t bytes) noexcept = 0;
  [[nodiscard]] virtual ssize_t receive(int descriptor, void* into, std::size_t bytes) noexcept = 0;
  [[nodiscard]] virtual ssize_t receive_message(int descriptor, msghdr& message) noexcept = 0;
  /// This one and the next three never raise SIGPIPE; but it and send_file do if the program has said that it ignores it, and does not
  /// (options::pipe_signal_ignored).
  [[nodiscard]] virtual ssize_t write(int descriptor, const iovec* parts, std::size_t count) noexcept = 0;
  [[nodiscard]] virtual ssize_t send(int descriptor, const void* from, std::size_t bytes) noexcept = 0;
  [[nodiscard]] virtual ssize_t send_message(int descriptor, const msghdr& message, int flags) noexcept = 0;
  /// Several datagrams with one call. Gives how many; -errno if the first one fails.
  [[nodiscard]] virtual int receive_messages(int descriptor, mmsghdr* messages, unsigned count) noexcept = 0;
  [[nodiscard]] virtual int send_messages(int descriptor, mmsghdr* messages, unsigned count) noexcept = 0;
  [[nodiscard]] virtual ssize_t send_file(int descriptor, int file, std::int64_t* offset, std::size_t bytes) noexcept = 0;

  /// Makes it non-blocking. Gives 1 if it was blocking before, 0 if not, or -errno. block() undoes it.
  [[nodiscard]] virtual int unblock(int descriptor) noexcept = 0;
  virtual void block(int /*descriptor*/) noexcept {}

  /// Another descriptor for the same open file.
  [[nodiscard]] virtual int duplicate(int descriptor) noexcept = 0;
  /// Whether a call in this direction would not block: 1, 0 or -errno. -EBADF if `lent` is closed.
  [[nodiscard]] virtual int is_ready(int descriptor, flow way, int lent) noexcept = 0;
  virtual void close(int descriptor) noexcept = 0;
  /// The same for one that was never watched.
  virtual void close_unwatched(int descriptor) noexcept { close(descriptor); }

  /// From now on, edges of this descriptor come to readiness_ledger::ready with `mark`, one at once if there is something by now; those of output need
  /// not. Gives -errno.
  [[nodiscard]] virtual int watch(int descriptor, std::uint64_t mark) noexcept = 0;
  /// From now on those of output come as well; one at once if there is room. Gives -errno.
  [[nodiscard]] virtual int watch_output(int /*descriptor*/, std::uint64_t /*mark*/) noexcept { return 0; }
  /// Whether nothing comes unless it is wanted, as from a system that tells how things stand, not what changes: each wait then asks for a report.
  [[nodiscard]] virtual bool tells_levels() const noexcept { return false; }
  /// An operation waits in this direction, after the last call had found nothing: one report is to come, at once if there is something by now.
  virtual void want(int /*descriptor*/, flow /*way*/) noexcept {}
  /// For a descriptor that lives on elsewhere.
  virtual void forget(int descriptor) noexcept = 0;
};

}  // namespace tartan::detail
