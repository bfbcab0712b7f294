#include "web/log_line.h"

#include <cstddef>

namespace web {

namespace {

constexpr std::size_t longest_text = 1024;

void append_escaped(std::string& to, std::string_view text) {
  constexpr std::string_view digits = "0123456789abcdef";
  for (const char c : text.substr(0, longest_text)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f && c != '"' && c != '\\') {
      to.push_back(c);
    } else {
      to.append("\\x").append(1, digits[byte >> 4]).append(1, digits[byte & 15]);
    }
  }
}

void append_quoted(std::string& to, std::string_view text) {
  to.append(" \"");
  append_escaped(to, text.empty() ? "-" : text);
  to.push_back('"');
}

}  // namespace

void append(std::string& lines, const log_entry& what) {
  append_escaped(lines, what.client);  // a client at a Unix socket chooses its own name
  lines.append(" - - [").append(what.time).push_back(']');
  append_quoted(lines, what.request);
  lines.append(" ").append(std::to_string(what.status)).append(" ").append(std::to_string(what.bytes));
  append_quoted(lines, what.referer);
  append_quoted(lines, what.agent);
  lines.push_back('\n');
}

}  // namespace web
