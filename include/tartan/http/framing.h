#pragma once
/// What the parsers note of a head to find the end of the body. Library code.

#include <cstdint>
#include <optional>

namespace tartan::http::detail {

struct framing {
  std::optional<std::uint64_t> length;
  bool host = false;
  bool coded = false;            ///< there is a Transfer-Encoding
  bool chunked = false;          ///< its last coding
  bool otherwise_coded = false;  ///< it has another coding before that
  bool close = false;
  bool keep_alive = false;
  bool expects_continue = false;
  bool is_conditional = false;
  bool asks_for_range = false;
};

}  // namespace tartan::http::detail
