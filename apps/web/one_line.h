#pragma once
/// What is said on the terminal.

#include <algorithm>
#include <string>

namespace web {

/// The text without what could end its line, or move the cursor: names of files and folders may have such bytes.
[[nodiscard]] inline std::string one_line(std::string text) {
  std::replace_if(text.begin(), text.end(), [](char c) { return (c >= 0 && c < 0x20) || c == 0x7f; }, '?');
  return text;
}

}  // namespace web
