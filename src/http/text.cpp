#include <tartan/http/text.h>

#include <algorithm>
#include <array>

namespace tartan::http {

namespace {

/// A table, as names are compared letter by letter.
constexpr std::array<char, 256> lower_cases = [] {
  std::array<char, 256> made{};
  for (std::size_t c = 0; c < made.size(); ++c) made[c] = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  return made;
}();

char lower(char c) noexcept {
  return lower_cases[static_cast<unsigned char>(c)];
}

}  // namespace

bool same_letters(std::string_view a, std::string_view b) noexcept {
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) { return lower(x) == lower(y); });
}

bool list_has(std::string_view list, std::string_view element) noexcept {
  bool found = false;
  each_element(list, [&](std::string_view one) { return !(found = same_letters(one, element)); });
  return found;
}

}  // namespace tartan::http
