#pragma once
/// Header fields that a program keeps or makes.

#include <initializer_list>
#include <string>
#include <string_view>
#include <tartan/http/header_lines.h>
#include <utility>
#include <vector>

namespace tartan::http {

/// Names and values, in their order: `field_list wanted{{"Accept", "text/plain"}}`.
///
/// Anything may be in it; what cannot stand in a head is refused when the head is written (head_writer.h).
/// Threads: as a std::vector.
/// Lifetime: it owns its text.
/// Errors: std::bad_alloc.
/// Cost: lookups go through all fields.
class field_list {
 public:
  using one_field = std::pair<std::string, std::string>;

  field_list() noexcept = default;
  field_list(std::initializer_list<std::pair<std::string_view, std::string_view>> all) {
    for (const auto& [name, value] : all) add(name, value);
  }
  /// A copy of what a parser found.
  explicit field_list(const header_lines& lines) {
    lines.each([this](std::string_view name, std::string_view value) { add(name, value); });
  }

  field_list& add(std::string_view name, std::string_view value) {
    fields_.emplace_back(name, value);
    return *this;
  }
  /// In the place of all fields of that name.
  field_list& set(std::string_view name, std::string_view value) {
    remove(name);
    return add(name, value);
  }
  void remove(std::string_view name) {
    std::erase_if(fields_, [name](const one_field& each) { return same_letters(each.first, name); });
  }

  [[nodiscard]] bool has(std::string_view name) const noexcept { return find(name) != nullptr; }
  /// The value of the first field of that name; empty if there is none.
  ///
  /// Lifetime: until the list changes.
  [[nodiscard]] std::string_view value(std::string_view name) const noexcept {
    const one_field* const found = find(name);
    return found != nullptr ? std::string_view{found->second} : std::string_view{};
  }

  [[nodiscard]] auto begin() const noexcept { return fields_.begin(); }
  [[nodiscard]] auto end() const noexcept { return fields_.end(); }
  [[nodiscard]] std::size_t size() const noexcept { return fields_.size(); }
  [[nodiscard]] bool empty() const noexcept { return fields_.empty(); }

 private:
  [[nodiscard]] const one_field* find(std::string_view name) const noexcept {
    for (const one_field& each : fields_) {
      if (same_letters(each.first, name)) return &each;
    }
    return nullptr;
  }

  std::vector<one_field> fields_;
};

}  // namespace tartan::http
