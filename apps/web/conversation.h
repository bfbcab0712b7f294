#pragma once
/// What all exchanges of a connection share.

#include <tartan/core/task.h>
#include <tartan/time/timer.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "web/channel.h"
#include "web/http.h"

namespace web {

class site;

/// The stream, the settings, what was agreed on, and how long it waits.
///
/// Timeouts: each wait has a deadline, and one timer looks from time to time whether the deadline has passed. A request moves the
/// deadline, which is a store; it does not touch the timer. tartan::with_timeout around each read and write is simpler, and right for most
/// programs. Here a request costs little more than a read and a write, and it would cost about half as many instructions again (callgrind).
///
/// Color: the stream's.
class conversation {
 public:
  using time = std::chrono::steady_clock::time_point;
  static constexpr std::size_t piece = 256 * 1024;      ///< bytes of a response for which the write timeout counts
  static constexpr std::chrono::seconds most_lingering{30};
  static constexpr std::chrono::seconds hurry{1};       ///< in a drain: for the end, the rest of a head, and one more request

  /// What it waits for.
  enum class phase : std::uint8_t { idle, head, body, file, sending, parting, lingering };

  /// `with`: speaks TLS; null: does not.
  conversation(std::shared_ptr<web::site> of, tartan::tcp::stream stream, tartan::tls::server* with);

  // How long it waits.

  [[nodiscard]] phase now_in() const noexcept { return phase_; }
  /// When the wait for its client began.
  [[nodiscard]] time waits_since() const noexcept { return waits_since_; }
  [[nodiscard]] bool is_timed_out() const noexcept { return timed_out_; }
  /// A wait begins, with a time of its own. Errors: std::bad_alloc.
  void enter(phase next);
  /// A write begins that is not expected to wait: its time is set if it does.
  void begin_write() noexcept {
    phase_ = phase::sending;
    waits_since_ = now;
  }
  /// Sees to it that the clock is looked at in time. Errors: std::bad_alloc; then nothing is set.
  void watch();
  /// The wait ends at this time, if not before. For callers that nothing may stop: without memory for the timer it ends now.
  void end_by(time then) noexcept;
  /// The same of a wait that has just begun. Errors: std::bad_alloc.
  void limit(time then);
  /// What it waits for is not waited for any longer.
  void expire();

  /// The disk is waited for in the middle of a write, and that is not the client's time.
  struct interruption {
    phase was;
    time waits_since;
    time deadline;
    time began;
  };
  [[nodiscard]] interruption begin_disk();
  void end_disk(const interruption& of);

  // A drain.

  /// How long a drain waits for the request that a client may have sent before it could know of the end. Half of the
  /// drain is left for the answer.
  [[nodiscard]] std::chrono::milliseconds last_call() const noexcept;
  /// Once in a drain: reads what the client has sent by now, and gives how much. Requests that begin in that are answered. An error is met
  /// by the next wait.
  [[nodiscard]] std::size_t look_again(std::span<std::byte> room) noexcept;

  /// Waits for the peer to finish, dropping what it sends: closing over unread bytes resets the connection, and the peer might lose
  /// the response (RFC 9112, 9.6). That nothing is unread now says nothing: the next bytes may be on their way.
  [[nodiscard]] tartan::task<> linger(std::chrono::seconds most);

  // What each request touches comes first.
  channel peer;
  std::shared_ptr<web::site> site;  ///< by which it answers
  time now{};                       ///< when the last wait ended
  std::size_t sent = 0;             ///< bytes of responses
  bool asked = false;               ///< a request has come
  bool asked_for_end = false;       ///< of the connection, by the last one
  bool lingers = false;             ///< at its end: of what was sent there may be more on its way
  bool draining = false;            ///< no request after those that look_again has found
  bool has_looked = false;          ///< look_again was called in the drain
  bool leaves = false;              ///< no request after the next one
  bool ending = false;              ///< nothing after what is to be sent

 private:
  void look_at_clock();
  void watch_or_cancel() noexcept;

  bool timed_out_ = false;
  phase phase_ = phase::idle;
  time waits_since_{};  ///< it is in its phase, or in a piece of what it sends
  time deadline_ = time::max();
  time timer_at_ = time::max();

 public:
  std::size_t behind_look = 0;  ///< bytes that came after look_again
  std::string client;           ///< its address, for the log; empty: not asked for yet
  bool is_proxied = false;      ///< the peer is a trusted proxy: it names the client

 private:
  tartan::timer timer_;  ///< set for the deadline or an earlier time: moving the deadline need not set it anew
};

}  // namespace web
