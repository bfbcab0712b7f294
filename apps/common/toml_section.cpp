#include "common/toml_section.h"

#include <array>
#include <cstddef>
#include <fstream>

namespace tartan::apps {

toml::table parse_toml(const std::string& path) {
  constexpr std::size_t most = 16 << 20;  // /dev/zero has no end
  std::ifstream file{path, std::ios::binary};
  std::string text;
  std::array<char, 16 * 1024> piece;
  while (file.is_open() && file.good() && text.size() <= most) {
    file.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    text.append(piece.data(), static_cast<std::size_t>(file.gcount()));
  }
  if (!file.is_open() || file.bad()) throw config_error{path + ": cannot be read"};
  if (text.size() > most) throw config_error{path + ": is longer than 16 MB"};
  try {
    return toml::parse(text, path);
  } catch (const toml::parse_error& wrong) {
    throw config_error{path + ":" + std::to_string(wrong.source().begin.line) + ": " +
                       std::string{wrong.description()}};
  }
}

std::optional<std::int64_t> toml_section::integer_of(std::string_view key, integer_range of) {
  const toml::node* const node = find(key);
  if (node == nullptr) return std::nullopt;
  const std::optional<std::int64_t> value = node->is_integer() ? node->value<std::int64_t>() : std::nullopt;
  if (!value || *value < of.least || *value > of.most) {
    complain(*node, key, "is no integer from " + std::to_string(of.least) + " to " + std::to_string(of.most));
  }
  return value;
}

void toml_section::seconds(std::string_view key, std::chrono::milliseconds& into) {
  const toml::node* const node = find(key);
  if (node == nullptr) return;
  const std::optional<double> value = node->is_number() ? node->value<double>() : std::nullopt;
  if (!value || !(*value >= 0 && *value <= 1e6)) complain(*node, key, "is no number of seconds from 0 to 1000000");
  into = std::chrono::milliseconds{static_cast<std::int64_t>(*value * 1000)};
}

void toml_section::flag(std::string_view key, bool& into) {
  const toml::node* const node = find(key);
  if (node == nullptr) return;
  if (!node->is_boolean()) complain(*node, key, "is neither true nor false");
  into = node->value<bool>().value();
}

void toml_section::text(std::string_view key, std::string& into) {
  if (const toml::node* const node = find(key)) into = text_of(*node, key);
}

void toml_section::texts(std::string_view key, std::vector<std::string>& into,
                         std::string (*why_wrong)(const std::string&)) {
  const toml::node* const node = find(key);
  if (node == nullptr) return;
  into.clear();
  const auto take = [&](const toml::node& each) {
    into.push_back(text_of(each, key));
    const std::string why = why_wrong != nullptr ? why_wrong(into.back()) : "";
    if (!why.empty()) complain(each, key, why);
  };
  if (const toml::array* const all = node->as_array()) {
    for (const toml::node& each : *all) take(each);
  } else {
    take(*node);
  }
  if (into.empty()) complain(*node, key, "is empty");
}

std::optional<toml_section> toml_section::inner(std::string_view key) {
  const toml::node* const node = find(key);
  if (node == nullptr) return std::nullopt;
  if (!node->is_table()) complain(*node, key, "is no table; write [" + name_of(key) + "]");
  return toml_section{file_, name_of(key), *node->as_table()};
}

std::vector<toml_section> toml_section::tables(std::string_view key) {
  std::vector<toml_section> found;
  const toml::node* const node = find(key);
  if (node == nullptr) return found;
  if (!node->is_array_of_tables()) complain(*node, key, "is no list of tables; write [[" + name_of(key) + "]]");
  for (const toml::node& each : *node->as_array()) found.emplace_back(file_, name_of(key), *each.as_table());
  return found;
}

void toml_section::end() const {
  for (const auto& [key, node] : keys_) {
    if (!taken_.contains(key.str())) complain(node, key.str(), "there is no such key; there are " + all_taken());
  }
}

void toml_section::complain(std::string_view key, const std::string& what) const {
  complain(*keys_.get(key), key, what);
}

void toml_section::lacks(std::string_view key) const {
  complain(keys_, key, "is missing");
}

std::string toml_section::place_of(std::string_view key) const {
  const toml::node* const node = keys_.get(key);
  return node != nullptr ? place_of(*node, key) : std::string{};
}

void toml_section::complain(const toml::node& at, std::string_view key, const std::string& what) const {
  throw config_error{place_of(at, key) + what};
}

std::string toml_section::place_of(const toml::node& at, std::string_view key) const {
  return file_ + ":" + std::to_string(at.source().begin.line) + ": " + name_of(key) + ": ";
}

std::string toml_section::name_of(std::string_view key) const {
  return name_.empty() ? std::string{key} : name_ + "." + std::string{key};
}

const toml::node* toml_section::find(std::string_view key) {
  taken_.insert(std::string{key});
  return keys_.get(key);
}

std::string toml_section::all_taken() const {
  std::string all;
  for (const std::string& each : taken_) all.append(all.empty() ? "" : ", ").append(each);
  return all;
}

std::string toml_section::text_of(const toml::node& node, std::string_view key) const {
  if (!node.is_string()) complain(node, key, "is no text in quotes");
  if (node.value<std::string>()->empty()) complain(node, key, "is empty");
  return *node.value<std::string>();
}

}  // namespace tartan::apps
