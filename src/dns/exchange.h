#pragma once
/// One question to one name server, once.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <sys/socket.h>
#include <system_error>
#include <tartan/core/result.h>
#include <tartan/core/task.h>
#include <tartan/io/address.h>
#include <tartan/io/descriptor_watch.h>

#include "dns/message.h"

struct ares_channeldata;
struct iovec;

namespace tartan::detail {

class io_system;

/// A c-ares channel with one question: over UDP, and over TCP if the answer is truncated. See docs/design/names.md.
///
/// Color: the running one, for everything; destroyed there or while nothing runs.
/// Lifetime: stays where it is. c-ares runs within calls of this class only, and calls nothing of anybody else.
class exchange {
 public:
  exchange(io_system& system, const address& server) noexcept : system_{system}, server_{server} {}
  exchange(const exchange&) = delete;
  exchange& operator=(const exchange&) = delete;
  ~exchange();

  /// Sends the question and waits for the answer, or until the server cannot be reached. It has no time limit.
  ///
  /// Errors: errc::canceled, errc::closed; what the system says of the socket. std::bad_alloc.
  [[nodiscard]] task<result<message_bytes>> run(const message_bytes& question);

  /// run() ends with errc::closed.
  void close() noexcept;

 private:
  struct socket_calls;

  [[nodiscard]] std::error_code open();
  [[nodiscard]] result<message_bytes> take();
  /// Keeps the error of a system call, and hands it to c-ares by errno.
  int refuse(long negative) noexcept;
  void let_go(int descriptor) noexcept;
  static void answered(void* self, int status, int timeouts, unsigned char* bytes, int length) noexcept;

  io_system& system_;
  address server_;
  ares_channeldata* channel_ = nullptr;
  /// The socket that was opened last: the answer is expected there.
  int socket_ = -1;
  bool is_datagram_ = false;
  bool wants_room_ = false;
  unsigned datagrams_left_ = 0;
  descriptor_watch watch_;
  std::error_code error_;  ///< of the last call on a socket that has failed
  int status_ = 0;
  bool is_done_ = false;
  bool is_closed_ = false;
  message_bytes answer_;
};

}  // namespace tartan::detail
