#pragma once
/// What a server has answered to a client.

#include <memory>
#include <string>
#include <tartan/core/result.h>
#include <tartan/core/task.h>
#include <tartan/http/field_list.h>
#include <tartan/http/server_event.h>
#include <tartan/http/status.h>
#include <tartan/http/url.h>
#include <tartan/http_io/body_stream.h>

namespace tartan::http {

namespace detail {
class client_exchange;
}

/// All of it.
struct answer {
  http::status status = http::status::ok;
  field_list fields;
  std::string body;
  url from;  ///< that of the request, or where redirects have led

  /// 200 to 299.
  [[nodiscard]] bool is_success() const noexcept { return static_cast<unsigned>(status) / 100 == 2; }
};

/// The head, and the body as it comes.
///
/// Color: any.
/// Threads: one operation at a time.
/// Lifetime: when it is destroyed, its connection is kept for other requests if the body was read to its end, else closed.
class open_answer {
 public:
  open_answer(open_answer&&) noexcept;
  open_answer& operator=(open_answer&&) noexcept;
  ~open_answer();

  [[nodiscard]] http::status status() const noexcept;
  [[nodiscard]] const field_list& fields() const noexcept;
  /// That of the request, or where redirects have led.
  [[nodiscard]] const url& from() const noexcept;

  [[nodiscard]] body_stream& body() noexcept;

  /// The next one of a stream of Server-Sent Events. To reconnect, send the last id as Last-Event-ID.
  ///
  /// Errors: body_stream's; http::errc::too_large for an event of more than a megabyte.
  [[nodiscard]] task<result<server_event>> next_event();

 private:
  friend class client;
  explicit open_answer(std::unique_ptr<detail::client_exchange> of) noexcept;

  std::unique_ptr<detail::client_exchange> exchange_;
};

}  // namespace tartan::http
