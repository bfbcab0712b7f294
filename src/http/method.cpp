#include <tartan/http/method.h>

#include <array>
#include <cstddef>

namespace tartan::http {

namespace {

/// In the order of the enumerators.
constexpr std::array<std::string_view, 9> names{"GET",     "HEAD",    "POST",  "PUT",  "DELETE",
                                                "CONNECT", "OPTIONS", "TRACE", "PATCH"};

}  // namespace

method detail::rare_method_of(std::string_view word) noexcept {
  for (std::size_t n = 2; n < names.size(); ++n) {  // the first two are method_of's
    if (word == names[n]) return static_cast<method>(n);
  }
  return method::other;
}

std::string_view text_of(method m) noexcept {
  const auto n = static_cast<std::size_t>(m);
  return n < names.size() ? names[n] : std::string_view{};
}

}  // namespace tartan::http
