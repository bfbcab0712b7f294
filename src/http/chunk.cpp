#include <tartan/buf/chain.h>
#include <tartan/http/chunk.h>

#include <array>
#include <charconv>
#include <cstddef>

namespace tartan::http {

namespace {

constexpr std::string_view last_chunk = "0\r\n\r\n";

}  // namespace

void append_chunk(std::string& out, std::string_view content) {
  if (content.empty()) return;
  std::array<char, 16> digits;
  const char* const end = std::to_chars(digits.data(), digits.data() + digits.size(), content.size(), 16).ptr;
  out.append(digits.data(), static_cast<std::size_t>(end - digits.data()))
      .append("\r\n")
      .append(content)
      .append("\r\n");
}

void append_chunk(buf::chain& out, const buf::slice& content) {
  if (!content.empty()) out.print(buf::hex{content.size()}, "\r\n", content, "\r\n");
}

void append_last_chunk(std::string& out) {
  out.append(last_chunk);
}

void append_last_chunk(buf::chain& out) {
  out.append(last_chunk);
}

}  // namespace tartan::http
