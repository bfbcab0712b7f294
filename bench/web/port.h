#pragma once
// The port that a contender's command line names.

#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <system_error>

namespace bench {

/// Ends the program if the text is not 0 to 65535: a larger number would wrap around to another port.
[[nodiscard]] inline std::uint16_t port_of(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error == std::errc{} && end == text.data() + text.size()) return port;
  std::fprintf(stderr, "'%.*s' is not a port: ports are 0 to 65535\n", static_cast<int>(text.size()), text.data());
  std::exit(2);
}

}  // namespace bench
