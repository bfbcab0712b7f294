#pragma once
/// One connection, and the request that is being answered.

#include <tartan/http/date.h>
#include <tartan/http/request_parser.h>
#include <tartan/http/target.h>
#include <tartan/io/tcp.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "colorings/common/handle_table.h"
#include "colorings/common/load_file.h"
#include "web/page.h"
#include "colorings/common/path_prefixes.h"
#include "web/read_buffer.h"
#include "web/request_body.h"
#include "web/response.h"

namespace colorings {

/// What comes next for a client.
enum class next_step : std::uint8_t {
  read,     ///< its request is not complete
  look_up,  ///< path() is asked for
  write,    ///< parts() is the answer already: there is nothing to look up
  close,
};

/// Whoever holds it is the only one who touches it: it goes from one callback to the next, and ends with the last one.
class client {
 public:
  explicit client(tartan::tcp::stream connection) : peer{std::move(connection)} {}

  [[nodiscard]] tartan::color color() const noexcept { return peer.color(); }

  /// Where to read into, and that so much was read.
  [[nodiscard]] std::span<std::byte> room() { return in_.room(); }
  void add(std::size_t received) noexcept { in_.add(received); }

  /// Parses what is there.
  [[nodiscard]] next_step parse();

  /// That is asked for, decoded; until the answer.
  [[nodiscard]] std::string_view path() const noexcept { return target_.path; }

  /// Makes the answer.
  void answer(tartan::http::status code, web::shared_page page);

  /// Lets go of what was needed to find the file.
  void forget_file();

  /// The answer: valid until the next one is made.
  [[nodiscard]] std::span<const std::span<const std::byte>> parts() const noexcept { return parts_; }

  tartan::tcp::stream peer;
  path_prefixes prefixes;  ///< of the path, when they have been computed
  known_way from;          ///< how far the way to the file is known, when the handle cache was asked
  loaded_file file;        ///< when it was read

 private:
  [[nodiscard]] web::response_form form(bool with_body);
  void end_request();
  void set_parts(std::string_view body) noexcept;

  web::read_buffer in_;
  tartan::http::request_parser parser_;
  tartan::http::request request_;
  web::request_body body_{tartan::http::request_limits{}.body};
  tartan::http::target_path target_;
  std::string decoded_;
  std::string head_;
  web::shared_page page_;  ///< whose body is sent behind the head
  std::array<std::span<const std::byte>, 2> parts_;
  tartan::http::date_clock date_;
  bool ends_ = false;  ///< with this answer
};

using owned_client = std::unique_ptr<client>;

}  // namespace colorings
