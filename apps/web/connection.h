#pragma once
/// One client.

#include <tartan/core/task.h>
#include <tartan/io/tcp.h>
#include <tartan/time/timer.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "byte_range.h"
#include "library.h"
#include "page_cache.h"
#include "read_buffer.h"
#include "request_body.h"
#include "request_parser.h"
#include "response.h"
#include "site.h"
#include "target.h"
#include "tls.h"

namespace web {

/// Reads requests and writes the responses, in order; short answers to what one read has brought leave with one write.
///
/// Color: the stream's: everything here runs in it, one event at a time. So nothing is guarded, and a connection that is slow, or a
/// peer that misbehaves, holds up no other.
class connection {
 public:
  /// `certificates`: speaks TLS; null: does not.
  connection(std::shared_ptr<site> of, tartan::tcp::stream peer, std::shared_ptr<const tls_certificates> certificates);

  /// Threads: any.
  [[nodiscard]] tartan::color color() const noexcept { return color_; }

  /// Serves until the peer has finished, or misbehaves, or the server is to end.
  tartan::task<> run();

  /// Ends when what has been begun is answered; at once if nothing has.
  void drain() noexcept;

  /// Answers by these settings whatever has not been read yet; at once if nothing is being answered.
  void renew(std::shared_ptr<site> with) noexcept;

  /// Where others have no place.
  struct leave_offer {
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

  /// What it waits for.
  enum class phase : std::uint8_t { idle, head, body, file, sending, parting, lingering };
  /// Why it has stopped answering: it needs the rest of a request, or out_ to be written, or the library; or there will be no more.
  enum class stop : std::uint8_t { input, output, library, end };

  [[nodiscard]] stop answer();
  [[nodiscard]] bool answer_request();
  void send_to_tls();
  [[nodiscard]] bool answer_best(const shared_page& what, const std::shared_ptr<const file>& large = nullptr);
  void answer_page(const shared_page& what, const std::shared_ptr<const file>& large = nullptr);
  void answer_parts(const shared_page& what, const byte_ranges& asked, const std::shared_ptr<const file>& large);
  void answer_status(status s);
  [[nodiscard]] bool answer_finding(const finding& found);
  [[nodiscard]] bool answer_failure(status why);
  void answer_error(const shared_page& what, const std::shared_ptr<const file>& large = nullptr);
  void send_behind(const shared_page& what, const std::shared_ptr<const file>& large, std::span<const byte_range> parts);
  void send_all_behind(const shared_page& what, const std::shared_ptr<const file>& large);
  [[nodiscard]] bool has_more_to_send() const noexcept { return large_ != nullptr || kept_ != nullptr; }
  [[nodiscard]] byte_ranges ranges_of(const page& what) const;
  [[nodiscard]] std::uint64_t bytes_behind() const noexcept;
  [[nodiscard]] std::string_view take_first_piece() noexcept;
  [[nodiscard]] std::string_view wanted_key() const;
  [[nodiscard]] const shared_page* current(std::string_view key);
  [[nodiscard]] std::string_view host_name() const;
  [[nodiscard]] page_cache& kept_pages();
  [[nodiscard]] bool is_answered_without_body() noexcept;
  void hold_request();
  void take_held();
  void refuse(status why);
  void end_request(status answered);
  void log(status answered);
  [[nodiscard]] response_form form();
  [[nodiscard]] response_form form_of_no_page();

  [[nodiscard]] bool may_close_at_once() const noexcept;

  tartan::task<> fetch();
  tartan::task<bool> begin_tls();
  tartan::task<bool> send_more();
  tartan::task<bool> send_part(const file& from, byte_range part);
  tartan::task<bool> send_sealed(const file& from, byte_range part);
  tartan::task<bool> send_text(std::string_view text);
  tartan::task<> linger(std::chrono::seconds most);

  void take_buffer();
  void leave_buffer();
  void wait_for_input();
  void enter(phase next);
  void watch();
  void look_at_clock();
  void expire();

  std::shared_ptr<site> site_;
  std::shared_ptr<site> next_site_;  ///< null: it is the same one
  tartan::color color_;
  tartan::tcp::stream peer_;
  const std::unique_ptr<tls_stream> tls_;  ///< over peer_; null: what is sent is not sealed

  read_buffer in_;
  request_parser parser_;
  request request_;               ///< the one that is being answered; its views point into in_
  std::string decoded_;           ///< its path, if that has to be decoded
  target_path target_;
  host* host_ = nullptr;          ///< that is asked
  std::string sibling_key_;       ///< of that which is wanted instead of the file
  coding as_ = coding::identity;  ///< what is asked for: the file under target_, or that sibling
  coding_set gone_;               ///< siblings that were to be sent, and cannot be
  status error_ = status::ok;     ///< else: the host's page that stands for it is asked for
  request_body body_;             ///< the last request's: what is still to come of it is dropped
  std::string held_;              ///< the head of a request whose body has not ended: it is answered then; request_'s views are dead meanwhile
  std::string out_;               ///< responses that are to be written
  std::size_t response_at_ = 0;   ///< where in it the last one begins
  std::string client_;            ///< its address, for the log
  std::string log_;               ///< lines for responses in out_, if there is an access log
  shared_page kept_;              ///< whose content comes behind out_, from memory;
  std::shared_ptr<const file> large_;  ///< or this one's, from the disk
  std::vector<byte_range> parts_;      ///< of it
  std::vector<std::string> frame_;     ///< what is sent before each of them, and behind the last one

  bool asked_ = false;            ///< a request has come
  bool asked_for_end_ = false;    ///< of the connection, by the last one
  bool waited_ = false;           ///< for the library, since the last read
  std::size_t sent_ = 0;          ///< bytes of responses from memory
  bool lingers_ = false;          ///< at its end: of what was sent there may be more on its way
  bool unread_ = false;           ///< the last read was full
  bool draining_ = false;         ///< no request after those that have begun
  bool leaves_ = false;           ///< no request after the next one
  bool ending_ = false;           ///< nothing after out_
  bool timed_out_ = false;

  tartan::timer timer_;           ///< set for the deadline or an earlier time: moving the deadline need not set it anew
  time now_{};                    ///< when the last wait ended
  time begun_{};                  ///< when the connection was
  time waits_since_{};            ///< it is in its phase, or in a piece of what it sends
  time deadline_ = time::max();
  time timer_at_ = time::max();
  phase phase_ = phase::idle;
};

}  // namespace web
