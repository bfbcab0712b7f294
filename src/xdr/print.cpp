#include <tartan/xdr/print.h>

#include <algorithm>

namespace tartan::xdr::detail {

namespace {

constexpr std::size_t most_bytes_shown = 32;
constexpr std::string_view digits = "0123456789abcdef";

}  // namespace

void printer::print_text(std::string_view value) {
  into_->push_back('"');
  for (const char each : value) {
    const auto code = static_cast<unsigned char>(each);
    if (each == '"' || each == '\\') {
      into_->append({'\\', each});
    } else if (code < 0x20 || code == 0x7f) {
      into_->append({'\\', 'x', digits[code >> 4], digits[code & 15]});
    } else {
      into_->push_back(each);
    }
  }
  into_->push_back('"');
}

void printer::print_bytes(std::span<const std::byte> first, std::size_t size) {
  into_->append("0x");
  first = first.first(std::min(first.size(), most_bytes_shown));
  for (const std::byte each : first) {
    const auto code = std::to_integer<unsigned>(each);
    into_->append({digits[code >> 4], digits[code & 15]});
  }
  if (first.size() < size) into_->append("... (").append(std::to_string(size)).append(" bytes)");
}

}  // namespace tartan::xdr::detail
