#pragma once
/// Settings from a file in TOML, with the line and the key of each mistake.

#include <toml++/toml.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/config_error.h"

namespace tartan::apps {

/// Reads and parses a file.
///
/// Errors: config_error: it cannot be read, is longer than 16 MB, or is not TOML. std::bad_alloc.
[[nodiscard]] toml::table parse_toml(const std::string& path);

/// The least and the greatest value of an integer.
struct integer_range {
  std::int64_t least;
  std::int64_t most;
};

/// One table of a file, whose keys are taken one by one; end() complains about a key that was not taken.
///
///     const toml::table all = parse_toml(path);
///     toml_section top{path, "", all};
///     top.integer("workers", into.workers, {0, 1024});
///     top.end();
///
/// A call that takes a key leaves `into` as it is if the key is missing.
/// Threads: one at a time.
/// Lifetime: the table's.
/// Errors: config_error, in every call, for a value of another type or out of its range; std::bad_alloc.
class toml_section {
 public:
  /// `name`: of the table, as messages have it; empty: the whole file.
  toml_section(std::string file, std::string name, const toml::table& keys)
      : file_{std::move(file)}, name_{std::move(name)}, keys_{keys} {}

  template <class Integer>
  void integer(std::string_view key, Integer& into, integer_range of) {
    if (const std::optional<std::int64_t> value = integer_of(key, of)) into = static_cast<Integer>(*value);
  }

  /// A number of seconds from 0 to 1000000.
  void seconds(std::string_view key, std::chrono::milliseconds& into);

  void flag(std::string_view key, bool& into);

  /// A text that is not empty.
  void text(std::string_view key, std::string& into);

  /// One text, or an array of at least one. `why_wrong`: says of one what is wrong with it; empty: nothing.
  void texts(std::string_view key, std::vector<std::string>& into,
             std::string (*why_wrong)(const std::string&) = nullptr);

  /// A table below this one; nothing if there is none.
  [[nodiscard]] std::optional<toml_section> inner(std::string_view key);

  /// The tables of a list, [[key]].
  [[nodiscard]] std::vector<toml_section> tables(std::string_view key);

  /// Calls `take(key, text)` for each key of the table; all values must be texts.
  template <class F>
  void each_text(F take) {
    for (const auto& [key, node] : keys_) {
      taken_.insert(std::string{key.str()});
      take(key.str(), text_of(node, key.str()));
    }
  }

  [[nodiscard]] bool has(std::string_view key) const noexcept { return keys_.contains(key); }

  /// All keys that may be there have been taken: complains about any other, and names those that there are.
  void end() const;

  /// Throws config_error: "FILE:LINE: KEY: what". The key must be there.
  [[noreturn]] void complain(std::string_view key, const std::string& what) const;

  /// Throws config_error: the key is missing.
  [[noreturn]] void lacks(std::string_view key) const;

  /// "FILE:LINE: KEY: ", for a mistake that is found later; empty if the key is missing.
  [[nodiscard]] std::string place_of(std::string_view key) const;

 private:
  [[noreturn]] void complain(const toml::node& at, std::string_view key, const std::string& what) const;
  [[nodiscard]] std::optional<std::int64_t> integer_of(std::string_view key, integer_range of);
  [[nodiscard]] std::string place_of(const toml::node& at, std::string_view key) const;
  [[nodiscard]] std::string name_of(std::string_view key) const;
  [[nodiscard]] const toml::node* find(std::string_view key);
  [[nodiscard]] std::string all_taken() const;
  [[nodiscard]] std::string text_of(const toml::node& node, std::string_view key) const;

  std::string file_;
  std::string name_;
  const toml::table& keys_;
  std::set<std::string, std::less<>> taken_;
};

}  // namespace tartan::apps
