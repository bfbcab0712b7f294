#pragma once
/// One client.

#include <tartan/core/task.h>
#include <tartan/io/tcp.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <system_error>

#include "web/conversation.h"
#include "web/exchange.h"
#include "web/site.h"

namespace web {

/// Reads requests and writes the responses, in order; short answers to what one read has brought leave with one write.
///
/// In the usual case a request costs two system calls: bytes are read into an exchange, which answers them, and what it has to say is written.
///
/// Color: the stream's: everything here runs in it, one event at a time. So nothing is guarded, and a connection that is slow, or a
/// peer that misbehaves, holds up no other.
///
/// While it waits for a request it has no exchange, and so no buffer.
class alignas(64) connection {
 public:
  /// `with`: speaks TLS; null: does not.
  connection(std::shared_ptr<site> of, tartan::tcp::stream peer, tartan::tls::server* with);

  /// Threads: any.
  [[nodiscard]] tartan::color color() const noexcept { return color_; }

  /// Serves until the peer has finished, or misbehaves, or the server is to end.
  tartan::task<> run();

  /// Answers what the client has sent by now, or sends within a short time, and ends: the last of these answers says
  /// so.
  ///
  /// A client that keeps its connection may have sent its next request already, and would never know whether that was
  /// seen: so an idle connection is not closed at once. A request that comes in time is answered with `Connection: close`.
  void drain() noexcept;
  /// The same before run: the server drains already.
  void begin_in_drain() noexcept { talk_.draining = true; }

  /// Answers by these settings whatever has not been read yet; at once if nothing is being answered.
  void renew(std::shared_ptr<site> with) noexcept;

  /// Where others have no place.
  struct leave_offer {
    bool at_rest = false;  ///< nothing has been asked, or all is answered
    bool at_once = false;  ///< else with its next answer, which says so
    bool soon = false;     ///< nothing is being sent: that may take long
    bool told = false;     ///< to leave, before
    std::chrono::steady_clock::time_point waits_since{};  ///< for its client
    std::chrono::steady_clock::time_point open_since{};
  };
  [[nodiscard]] leave_offer offer() const noexcept;
  /// Ends as the offer says.
  void leave() noexcept;

  /// Nothing more is read or written; the descriptor is free.
  void close() noexcept { talk_.peer.socket().close(); }

 private:
  using phase = conversation::phase;
  using stop = exchange::stop;
  /// What a wait for input has come to.
  enum class arrival : std::uint8_t {
    nothing,
    bytes,
    end,   ///< there will be no more, and the peer is told the same: it has finished, or its time is up, or the server's
    gone,  ///< nobody is there to be told anything
  };

  tartan::task<bool> meet_proxy();
  tartan::task<bool> begin_tls();
  template <class Stream>
  tartan::task<> converse(Stream& peer);
  tartan::task<bool> answer_all();
  tartan::task<> fetch();
  void take_turn(const tartan::result<>& ready);
  void take_input();
  void add_input(std::size_t bytes, std::size_t room);
  void end_of_wait(std::error_code why);
  void wait_for_input();
  void take_exchange();
  void leave_exchange() noexcept;
  void take_site() noexcept;
  void tell_log();
  [[nodiscard]] bool is_over() noexcept;
  [[nodiscard]] bool may_close_at_once() const noexcept;

  conversation talk_;
  std::unique_ptr<exchange> exchange_;  ///< null: it waits, and nothing of a request has come
  arrival came_ = arrival::nothing;
  stop next_ = stop::input;   ///< what the last answer has come to, if came_ is bytes
  bool is_left_ = false;      ///< send_now was called for that, and there is something left
  bool is_renewed_ = false;   ///< there is a next_site_
  bool waited_ = false;       ///< for the library, since the last read
  bool unread_ = false;       ///< the last read was full
  tartan::color color_;
  std::shared_ptr<site> next_site_;  ///< null: it is the same one
  conversation::time begun_{};       ///< when the connection was
};

}  // namespace web
