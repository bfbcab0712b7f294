#pragma once
/// Text for one line of a terminal or of a log.

#include <algorithm>
#include <string>

namespace tartan::apps {

/// The text with '?' in the place of control characters: names of files may have bytes that end a line, or move the
/// cursor.
[[nodiscard]] inline std::string one_line(std::string text) {
  std::replace_if(text.begin(), text.end(), [](char c) { return (c >= 0 && c < 0x20) || c == 0x7f; }, '?');
  return text;
}

}  // namespace tartan::apps
