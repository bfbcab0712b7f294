#pragma once
/// Just enough JSON: objects that are written, and flat ones that are read.

#include <charconv>
#include <concepts>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace load {

/// One object, written member by member.
class json_object {
 public:
  template <std::integral Number>
  json_object& add(std::string_view name, Number value) {
    return add_raw(name, std::to_string(value));
  }
  json_object& add(std::string_view name, double value);
  json_object& add(std::string_view name, std::string_view value);
  json_object& add(std::string_view name, const char* value) { return add(name, std::string_view{value}); }
  json_object& add(std::string_view name, const json_object& value) { return add_raw(name, value.text()); }
  json_object& add(std::string_view name, const std::vector<std::string>& values);

  [[nodiscard]] std::string text() const { return "{" + members_ + "}"; }

 private:
  json_object& add_raw(std::string_view name, std::string_view value);

  std::string members_;
};

/// The members of an object in which there are only numbers and strings.
class flat_json {
 public:
  /// Gives nothing for what is no such object, all of the text.
  [[nodiscard]] static std::optional<flat_json> parse(std::string_view text);

  [[nodiscard]] bool has(const std::string& name) const { return members_.contains(name); }

  /// Empty if there is none.
  [[nodiscard]] std::string text(const std::string& name) const {
    const auto found = members_.find(name);
    return found == members_.end() ? std::string{} : found->second;
  }

  /// 0 if there is none, or it is no such number.
  template <class Number>
  [[nodiscard]] Number number(const std::string& name) const {
    const std::string value = text(name);
    Number read{};
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), read);
    return error == std::errc{} && end == value.data() + value.size() ? read : Number{};
  }

 private:
  std::map<std::string, std::string> members_;
};

}  // namespace load
