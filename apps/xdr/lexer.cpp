#include "xdr/lexer.h"

#include <algorithm>
#include <cstddef>

namespace xdr_compiler {

namespace {

bool is_digit(char c) noexcept {
  return c >= '0' && c <= '9';
}
bool begins_name(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool continues_name(char c) noexcept {
  return begins_name(c) || is_digit(c);
}
bool is_blank(char c) noexcept {
  return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f' || c == '\n';
}

bool is_number(std::string_view text) noexcept {
  if (text.starts_with('-')) text.remove_prefix(1);
  if (text.empty()) return false;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    text.remove_prefix(2);
    return !text.empty() && text.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
  }
  if (text.front() == '0') return text.find_first_not_of("01234567") == std::string_view::npos;
  return text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// Text that can be shown on a line.
std::string shown(char c) {
  if (c >= 0x20 && c < 0x7f) return std::string{"'"} + c + "'";
  constexpr std::string_view digits = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(c);
  return std::string{"the byte 0x"} + digits[byte / 16] + digits[byte % 16];
}

class lexer {
 public:
  lexer(std::string_view text, const std::string& file, diagnostics& errors)
      : text_{text}, errors_{&errors}, file_{errors.file(file)} {}

  std::vector<token> read() {
    while (skip_blanks()) read_one();
    tokens_.push_back({token::kind::end, {}, here()});
    return std::move(tokens_);
  }

 private:
  [[nodiscard]] place here() const noexcept {
    return {file_, line_, static_cast<std::uint32_t>(at_ - line_start_ + 1)};
  }
  [[nodiscard]] char peek(std::size_t ahead = 0) const noexcept {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  void next() noexcept {
    if (text_[at_++] == '\n') {
      ++line_;
      line_start_ = at_;
    }
  }
  std::string_view take_line() noexcept {
    const std::size_t end = std::min(text_.find('\n', at_), text_.size());
    const std::string_view line = text_.substr(at_, end - at_);
    at_ = end;
    return line.ends_with('\r') ? line.substr(0, line.size() - 1) : line;
  }

  /// False at the end of the text.
  bool skip_blanks() {
    while (at_ < text_.size()) {
      if (is_blank(peek())) {
        next();
      } else if (peek() == '/' && peek(1) == '/') {
        take_line();
      } else if (peek() == '/' && peek(1) == '*') {
        skip_comment();
      } else {
        return true;
      }
    }
    return false;
  }
  void skip_comment() {
    const place begin = here();
    at_ += 2;
    while (at_ < text_.size() && !(peek() == '*' && peek(1) == '/')) next();
    if (at_ >= text_.size()) return errors_->error(begin, "this comment does not end: '*/' is missing");
    at_ += 2;
  }

  void read_one() {
    const place begin = here();
    const char c = peek();
    if (begin.column == 1 && (c == '%' || c == '#')) return read_line(begin);
    if (begins_name(c)) return read_name(begin);
    if (is_digit(c) || (c == '-' && is_digit(peek(1)))) return read_number(begin);
    ++at_;
    if (std::string_view{"{}()[]<>;:,=*"}.find(c) != std::string_view::npos) {
      tokens_.push_back({token::kind::symbol, std::string{c}, begin});
    } else if (c == '#' || c == '%') {
      errors_->error(begin, shown(c) + " must be the first character of its line");
      take_line();
    } else {
      errors_->error(begin, shown(c) + " does not belong into a .x file");
    }
  }

  void read_line(const place& begin) {
    std::string_view line = take_line();
    if (line.front() == '%') {
      tokens_.push_back({token::kind::text, std::string{line.substr(1)}, begin});
      return;
    }
    line.remove_prefix(1);
    const std::size_t number = line.find_first_not_of(" \t");
    line.remove_prefix(std::min(number, line.size()));
    if (line.starts_with("line")) line.remove_prefix(std::min(line.find_first_not_of(" \t", 4), line.size()));
    if (line.empty() || !is_digit(line.front())) return;  // #pragma, #ident
    std::uint32_t value = 0;
    while (!line.empty() && is_digit(line.front())) {
      value = value * 10 + static_cast<std::uint32_t>(line.front() - '0');
      line.remove_prefix(1);
    }
    const std::size_t open = line.find('"');
    const std::size_t close = line.rfind('"');
    if (open != close) file_ = errors_->file(std::string{line.substr(open + 1, close - open - 1)});
    line_ = value - 1;  // the end of this line counts
  }

  void read_name(const place& begin) {
    const std::size_t start = at_;
    while (continues_name(peek())) ++at_;
    while (peek() == ':' && peek(1) == ':' && begins_name(peek(2))) {
      at_ += 2;
      while (continues_name(peek())) ++at_;
    }
    tokens_.push_back({token::kind::identifier, std::string{text_.substr(start, at_ - start)}, begin});
  }

  void read_number(const place& begin) {
    const std::size_t start = at_++;
    while (continues_name(peek())) ++at_;
    const std::string text{text_.substr(start, at_ - start)};
    if (!is_number(text)) errors_->error(begin, "'" + text + "' is not a number");
    tokens_.push_back({token::kind::number, is_number(text) ? text : "1", begin});
  }

  std::string_view text_;
  diagnostics* errors_;
  const std::string* file_;
  std::size_t at_ = 0;
  std::size_t line_start_ = 0;
  std::uint32_t line_ = 1;
  std::vector<token> tokens_;
};

}  // namespace

std::vector<token> read_tokens(std::string_view text, const std::string& file, diagnostics& errors) {
  return lexer{text, file, errors}.read();
}

bool has_directives(std::string_view text) noexcept {
  return text.starts_with('#') || text.find("\n#") != std::string_view::npos;
}

}  // namespace xdr_compiler
