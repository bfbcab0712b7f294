#pragma once
/// One client.

#include <tartan/core/task.h>
#include <tartan/http/byte_range.h>
#include <tartan/io/tcp.h>
#include <tartan/time/timer.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "web/exchange.h"
#include "web/file_part.h"
#include "web/http.h"
#include "web/library.h"
#include "web/page_cache.h"
#include "web/response.h"
#include "web/site.h"
#include "web/tls.h"

namespace web {

/// Reads requests and writes the responses, in order; short answers to what one read has brought leave with one write.
///
/// Color: the stream's: everything here runs in it, one event at a time. So nothing is guarded, and a connection that is slow, or a
/// peer that misbehaves, holds up no other.
///
/// While it waits for a request it has no buffer, if it does not speak TLS: see exchange.
class alignas(64) connection {
 public:
  /// `certificates`: speaks TLS; null: does not. `tickets`: see tls_stream.
  connection(std::shared_ptr<site> of, tartan::tcp::stream peer, std::shared_ptr<const tls_certificates> certificates,
             std::shared_ptr<const ticket_keys> tickets);

  /// Threads: any.
  [[nodiscard]] tartan::color color() const noexcept { return color_; }

  /// Serves until the peer has finished, or misbehaves, or the server is to end.
  tartan::task<> run();

  /// Answers what the client has sent by now, or sends within a short time, and ends: the last of these answers says
  /// so.
  void drain() noexcept;
  /// The same before run: the server drains already.
  void begin_in_drain() noexcept { draining_ = true; }

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
  void close() noexcept { peer_.close(); }

 private:
  using time = std::chrono::steady_clock::time_point;
  static constexpr std::chrono::seconds linger_for{2};  ///< while the peer sends nothing
  static constexpr std::chrono::seconds most_lingering{30};

  /// What it waits for.
  enum class phase : std::uint8_t { idle, head, body, file, sending, parting, lingering };
  /// Why it has stopped answering: it needs the rest of a request, or what it has said to be written, or the library; or there will be no more.
  enum class stop : std::uint8_t { input, output, library, end };
  /// How far what was to be sent has come.
  enum class progress : std::uint8_t {
    all,
    no_room,   ///< the peer has to read first
    no_bytes,  ///< the disk has to be read first
    no_file,   ///< it cannot be read, or is not as it was promised
    failed,    ///< the peer is gone
  };
  /// What a wait for input has come to.
  enum class arrival : std::uint8_t {
    nothing,
    bytes,
    end,   ///< there will be no more, and the peer is told the same: it has finished, or its time is up, or the server's
    gone,  ///< nobody is there to be told anything
  };

  [[nodiscard]] stop answer();
  [[nodiscard]] bool answer_request();
  void send_to_tls();
  [[nodiscard]] bool answer_best(const shared_page& what, large_file large = nullptr);
  [[nodiscard]] bool answer_at_hand(const shared_page& what);
  void answer_page(const shared_page& what, large_file large);
  void answer_parts(const shared_page& what, const http::byte_ranges& asked, large_file large);
  void answer_status(http::status s);
  [[nodiscard]] bool answer_finding(const finding& found);
  [[nodiscard]] bool answer_failure(http::status why);
  void answer_error(const shared_page& what, large_file large);
  void send_behind(const shared_page& what, large_file large, std::span<const http::byte_range> parts);
  void send_all_behind(const shared_page& what, large_file large);
  [[nodiscard]] bool has_more_to_send() const noexcept { return exchange_->large != nullptr || exchange_->kept != nullptr; }
  [[nodiscard]] bool is_for_kernel() const noexcept;
  [[nodiscard]] bool is_from_disk() const noexcept;
  [[nodiscard]] http::byte_ranges ranges_of(const page& what) const;
  [[nodiscard]] std::uint64_t bytes_behind() const noexcept;
  [[nodiscard]] std::string_view take_first_piece() noexcept;
  void untake(std::size_t bytes) noexcept;
  void take_site() noexcept;
  [[nodiscard]] std::string_view wanted_key() const;
  [[nodiscard]] const shared_page* current(std::string_view key);
  [[nodiscard]] std::string_view host_name() const;
  [[nodiscard]] page_cache& kept_pages();
  [[nodiscard]] bool is_answered_without_body() noexcept;
  void hold_request();
  void take_held();
  void refuse(http::status why);
  void end_request(http::status answered);
  void log(http::status answered);
  [[nodiscard]] response_form form();
  [[nodiscard]] response_form form_of_no_page();
  [[nodiscard]] bool is_last_of_drain() const noexcept;

  [[nodiscard]] bool may_close_at_once() const noexcept;

  tartan::task<> converse();
  tartan::task<> fetch();
  tartan::task<bool> begin_tls();
  tartan::task<bool> send_more();
  tartan::task<bool> send_by_kernel();
  tartan::task<bool> send_from_disk(file_part part, std::string before);
  tartan::task<progress> send_after_wait(file_part& part, std::string& before);
  tartan::task<bool> give_up(const file_part& part);
  tartan::task<bool> send_sealed(file_part part);
  tartan::task<bool> send_text(std::string_view text);
  tartan::task<> linger(std::chrono::seconds most);

  void take_exchange();
  void leave_exchange() noexcept;
  void take_buffer();
  void leave_buffer();
  [[nodiscard]] bool send_now();
  [[nodiscard]] bool send_by_kernel_now();
  [[nodiscard]] bool send_from_disk_now();
  [[nodiscard]] progress send_at_hand(file_part& part, std::string& before);
  [[nodiscard]] progress send_copied(std::span<const char> bytes, file_part& part, std::string& before);
  tartan::task<bool> send_rest();
  void wait_for_input();
  void take_turn(const tartan::result<>& ready);
  [[nodiscard]] bool is_over() noexcept;
  void tell_log();
  void take_input();
  void take_opened(const tartan::result<std::size_t>& got, std::size_t room);
  void look_again(std::span<std::byte> room) noexcept;
  void add_input(std::size_t bytes, std::size_t room);
  void end_of_wait(std::error_code why);
  void enter(phase next);
  void watch();
  void watch_or_cancel() noexcept;
  [[nodiscard]] std::chrono::milliseconds last_call() const noexcept;
  void look_at_clock();
  void expire();

  // What each request touches: two cache lines.
  std::shared_ptr<site> site_;
  tartan::tcp::stream peer_;
  std::unique_ptr<exchange> exchange_;     ///< null: it waits, and nothing of a request has come
  const std::unique_ptr<tls_stream> tls_;  ///< over peer_; null: what is sent is not sealed
  time now_{};                    ///< when the last wait ended
  time waits_since_{};            ///< it is in its phase, or in a piece of what it sends
  time deadline_ = time::max();
  time timer_at_ = time::max();
  std::size_t sent_ = 0;          ///< bytes of responses
  phase phase_ = phase::idle;
  arrival came_ = arrival::nothing;
  stop next_ = stop::input;       ///< what the last answer() has come to, if came_ is bytes
  bool is_left_ = false;          ///< send_now was called for that, and there is something left
  bool is_renewed_ = false;       ///< there is a next_site_
  bool asked_ = false;            ///< a request has come
  bool asked_for_end_ = false;    ///< of the connection, by the last one
  bool waited_ = false;           ///< for the library, since the last read
  bool lingers_ = false;          ///< at its end: of what was sent there may be more on its way
  bool unread_ = false;           ///< the last read was full
  bool draining_ = false;         ///< no request after those that look_again has found
  bool has_looked_ = false;       ///< look_again was called in the drain
  bool leaves_ = false;           ///< no request after the next one
  bool ending_ = false;           ///< nothing after what is to be sent
  bool timed_out_ = false;

  // What few need.
  std::size_t behind_look_ = 0;   ///< bytes that came after look_again
  tartan::color color_;
  std::shared_ptr<site> next_site_;  ///< null: it is the same one
  tartan::timer timer_;           ///< set for the deadline or an earlier time: moving the deadline need not set it anew
  time begun_{};                  ///< when the connection was
  std::string client_;            ///< its address, for the log
};

}  // namespace web
