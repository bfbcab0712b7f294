// X-Forwarded-For: who is found stands in the text, is no trusted proxy if anybody else is there, and is not changed by what stands before it.
//
// Input: the value of the field.

#include <tartan/http/forwarded_for.h>

#include <array>
#include <string>

#include "fuzz_target.h"

namespace tartan::http::fuzz {

void fuzz_forwarded_for(std::string_view input) {
  const std::array trusted{*ip_range::parse("10.0.0.0/8"), *ip_range::parse("2001:db8::/32")};
  const auto client_of = [&trusted](const std::string& value) {
    const std::string lines = "X-Forwarded-For: " + value + "\r\n";
    return forwarded_client(header_lines{lines}, trusted);
  };
  const std::string value{input.substr(0, input.find_first_of("\r\n"))};
  const auto found = client_of(value);
  const auto behind_another = client_of("192.0.2.99," + value);
  if (found && !trusted[0].contains(*found) && !trusted[1].contains(*found)) {
    promise(behind_another == found, "what stands before the client does not count");
  } else if (found) {
    promise(behind_another && behind_another->to_string() == "192.0.2.99", "a trusted one is the client only if all are trusted");
  } else {
    const bool is_empty = value.find_first_not_of(", \t") == std::string::npos;
    promise(is_empty || !behind_another, "nothing before what is no address is believed");
  }
  const auto ended = client_of(value + ",198.51.100.7");
  promise(ended && ended->to_string() == "198.51.100.7", "the last that is no trusted proxy is the client");
  if (!found) return;
  promise(ip_address::parse(found->to_string()) == found, "what was written is read as the same");
}

}  // namespace tartan::http::fuzz
