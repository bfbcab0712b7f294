#pragma once
/// What a connection knows of the request that it answers.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tartan/http/request.h>
#include <tartan/http/target.h>
#include <tartan/http_io/body_stream.h>
#include <vector>

#include "http_server/router.h"

namespace tartan::http::detail {

class connection;
class wire;

/// Color: the connection's for the answer. The request does not change.
struct exchange_state {
  exchange_state(connection& of, const request& req, wire& from, body_stream::settings with) noexcept
      : on{of}, head{req}, body{from, with} {}

  connection& on;
  const request& head;
  body_stream body;
  target_path where{};
  const route_entry* route = nullptr;
  std::vector<std::string_view> values;  ///< of the route's parameters
  std::optional<std::uint64_t> left;     ///< bytes of the answer that are still to be written; nothing: not known
  bool is_answered = false;              ///< the head has left
  bool is_open = false;                  ///< the answer's body has not ended
  bool has_body = false;                 ///< the answer has one, and the request is no HEAD
  bool is_whole = false;  ///< all of the answer has been sent
  bool is_chunked = false;
  bool closes = false;  ///< the connection ends behind the answer
  bool is_events = false;
};

}  // namespace tartan::http::detail
