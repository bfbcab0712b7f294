// Values of generated types (tests/xdr/everything.x): what is decoded is encoded to the same bytes.
//
// Input: the type, and the message.
#include <everything.h>
#include <tartan/xdr/codec.h>
#include <tartan/xdr/print.h>

#include <span>
#include <string>

#include "fuzz_target.h"

namespace tartan::http::fuzz {

namespace {

template <class T>
void decode_and_encode(std::string_view input) {
  const auto bytes = std::as_bytes(std::span{input});
  const auto read = xdr::decode<T>(bytes, xdr::limits{.memory_bytes = 65536});
  if (!read) {
    promise(read.error().category() == xdr::error_category(), "an error is one of XDR");
    return;
  }
  buf::chain wire;
  promise(static_cast<bool>(xdr::encode(wire, *read)), "what was decoded can be encoded");
  promise(wire.to_string() == input, "a value has one form");
  promise(!xdr::print(*read).empty(), "a value can be shown");
  const auto shared = xdr::decode<T>(wire);
  promise(static_cast<bool>(shared), "slices are decoded as bytes are");
}

}  // namespace

void fuzz_xdr_value(std::string_view input) {
  namespace made = everything;
  constexpr void (*types[])(std::string_view) = {
      decode_and_encode<made::seat>,   decode_and_encode<made::answer>, decode_and_encode<made::reply>,
      decode_and_encode<made::number>, decode_and_encode<made::links>,  decode_and_encode<made::folder>,
      decode_and_encode<made::tree>,   decode_and_encode<made::outer>,  decode_and_encode<made::inner::pair>,
  };
  const auto knobs = take_knobs<1>(input);
  types[knobs[0] % std::size(types)](input);
}

}  // namespace tartan::http::fuzz
