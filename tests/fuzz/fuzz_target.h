#pragma once
/// What is given bytes of all kinds: by libFuzzer, and, from the corpora, by a test.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>

namespace tartan::http::fuzz {

/// What the code under test has promised does not hold for this input. libFuzzer sees a crash, as nobody catches it there.
class broken_promise : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

inline void promise(bool holds, const std::string& what) {
  if (!holds) throw broken_promise{what};
}

/// The bytes in front of an input that say how the rest is to be used; zeros beyond its end.
template <std::size_t Size>
std::array<std::uint8_t, Size> take_knobs(std::string_view& input) {
  std::array<std::uint8_t, Size> knobs{};
  const std::size_t there = std::min(Size, input.size());
  std::memcpy(knobs.data(), input.data(), there);
  input.remove_prefix(there);
  return knobs;
}

/// Each throws broken_promise, or is ended by a sanitizer.
void fuzz_request(std::string_view input);
void fuzz_response(std::string_view input);
void fuzz_target(std::string_view input);
void fuzz_byte_range(std::string_view input);
void fuzz_fields(std::string_view input);
void fuzz_http_date(std::string_view input);
void fuzz_proxy_header(std::string_view input);
void fuzz_forwarded_for(std::string_view input);
void fuzz_config(std::string_view input);
void fuzz_llhttp(std::string_view input);
void fuzz_rpc_message(std::string_view input);
void fuzz_rpc_record(std::string_view input);
void fuzz_xdr_source(std::string_view input);
void fuzz_xdr_value(std::string_view input);

}  // namespace tartan::http::fuzz
