#include "load/url_bytes.h"

namespace load {

namespace {

bool can_be_printed(char c) noexcept {
  return c >= ' ' && c <= '~';
}

std::string hex(char c) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  const auto byte = static_cast<unsigned char>(c);
  return {digits[byte >> 4], digits[byte & 0xf]};
}

}  // namespace

std::string percent_encoded(char c) {
  return "%" + hex(c);
}

std::string shown(char c) {
  return can_be_printed(c) ? std::string{'\'', c, '\''} : "byte 0x" + hex(c);
}

std::string printable(std::string_view text) {
  std::string made;
  for (const char c : text) made += can_be_printed(c) ? std::string{c} : percent_encoded(c);
  return made;
}

}  // namespace load
