#pragma once
/// C++ that is written line by line.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace xdr_compiler {

class source_text {
 public:
  /// A line, indented; empty: a blank line.
  void line(std::string_view text);
  /// A blank line, unless the text ends with one or with an opening brace.
  void gap();
  /// A line, and what follows one step further right.
  void open(std::string_view text) {
    line(text);
    ++depth_;
  }
  /// Ends what open() began.
  void close(std::string_view text = "}") {
    --depth_;
    line(text);
  }
  /// A label, as "public:", one column right of the class.
  void label(std::string_view text);

  /// `head`, the items with the separator behind each but the last, `tail`; broken behind separators where a line would
  /// be too long, and goes on below the first item.
  void fill(const std::string& head, const std::vector<std::string>& items, std::string_view separator,
            std::string_view tail);

  /// Closes and opens namespaces, so that what follows is within these.
  void enter(const std::vector<std::string>& namespaces);

  [[nodiscard]] const std::string& text() const noexcept { return text_; }

 private:
  static constexpr std::size_t longest_line = 120;

  std::string text_;
  std::size_t depth_ = 0;
  std::vector<std::string> namespaces_;
};

[[nodiscard]] std::string joined(const std::vector<std::string>& all, std::string_view separator);

}  // namespace xdr_compiler
