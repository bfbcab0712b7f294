#include "load/json.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace load {

namespace {

std::string quoted(std::string_view text) {
  std::string all = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      all += {'\\', c};
    } else if (static_cast<unsigned char>(c) < ' ') {
      char code[8];
      std::snprintf(code, sizeof code, "\\u%04x", static_cast<unsigned>(c));
      all += code;
    } else {
      all += c;
    }
  }
  return all + "\"";
}

/// Takes what it reads away from the front.
class reader {
 public:
  explicit reader(std::string_view text) : left_{text} {}

  bool take(char c) {
    skip_blanks();
    if (!left_.starts_with(c)) return false;
    left_.remove_prefix(1);
    return true;
  }

  bool take_string(std::string& into) {
    if (!take('"')) return false;
    while (!left_.empty() && left_.front() != '"') {
      if (!take_character(into)) return false;
    }
    return take('"');
  }

  bool take_number(std::string& into) {
    skip_blanks();
    const std::string_view digits = left_.substr(0, left_.find_first_not_of("+-.0123456789eE"));
    into = digits;
    left_.remove_prefix(digits.size());
    return !digits.empty();
  }

  bool take_value(std::string& into) {
    skip_blanks();
    return left_.starts_with('"') ? take_string(into) : take_number(into);
  }

  bool at_end() {
    skip_blanks();
    return left_.empty();
  }

 private:
  void skip_blanks() { left_.remove_prefix(std::min(left_.find_first_not_of(" \t\r\n"), left_.size())); }

  bool take_character(std::string& into) {
    char c = left_.front();
    left_.remove_prefix(1);
    if (c == '\\') {
      if (left_.empty()) return false;
      c = left_.front();
      left_.remove_prefix(1);
      if (c == 'u') {
        unsigned code = 0;
        if (left_.size() < 4) return false;
        const auto [end, error] = std::from_chars(left_.data(), left_.data() + 4, code, 16);
        if (error != std::errc{} || end != left_.data() + 4 || code >= ' ') return false;  // what is written here, and no more
        left_.remove_prefix(4);
        c = static_cast<char>(code);
      } else if (c != '"' && c != '\\' && c != '/') {
        return false;
      }
    }
    into += c;
    return true;
  }

  std::string_view left_;
};

}  // namespace

json_object& json_object::add(std::string_view name, double value) {
  if (!std::isfinite(value)) return add_raw(name, "null");
  char text[32];
  const auto [end, error] = std::to_chars(text, text + sizeof text, value, std::chars_format::general, 9);
  return add_raw(name, error == std::errc{} ? std::string_view{text, static_cast<std::size_t>(end - text)} : "null");
}

json_object& json_object::add(std::string_view name, std::string_view value) { return add_raw(name, quoted(value)); }

json_object& json_object::add(std::string_view name, const std::vector<std::string>& values) {
  std::string all;
  for (const std::string& each : values) all += (all.empty() ? "" : ", ") + quoted(each);
  return add_raw(name, "[" + all + "]");
}

json_object& json_object::add_raw(std::string_view name, std::string_view value) {
  members_.append(members_.empty() ? "" : ", ").append(quoted(name)).append(": ").append(value);
  return *this;
}

std::optional<flat_json> flat_json::parse(std::string_view text) {
  reader from{text};
  flat_json read;
  if (!from.take('{')) return std::nullopt;
  if (!from.take('}')) {
    do {
      std::string name;
      std::string value;
      if (!from.take_string(name) || !from.take(':') || !from.take_value(value)) return std::nullopt;
      read.members_.insert_or_assign(name, value);
    } while (from.take(','));
    if (!from.take('}')) return std::nullopt;
  }
  return from.at_end() ? std::optional{read} : std::nullopt;
}

}  // namespace load
