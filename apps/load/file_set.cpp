#include "load/file_set.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <numeric>
#include <stdexcept>

#include "load/json.h"

namespace load {

namespace {

constexpr std::size_t classes = 4;
constexpr std::size_t files_of_class = 9;
constexpr std::size_t files_of_directory = classes * files_of_class;
constexpr std::array<double, classes> class_weights{0.35, 0.50, 0.14, 0.01};
/// Zipf's law over the nine files of a class, the one of middle size being the most popular (SPECweb99's table).
constexpr std::array<unsigned, files_of_class> rank_in_class{9, 6, 4, 3, 1, 2, 5, 7, 8};

/// Tenths of a kilobyte, kilobytes, tens and hundreds of them: 1 to 9 of each.
std::size_t size_of(std::size_t class_number, std::size_t file) {
  constexpr std::array<std::size_t, classes> tenths{1024, 10'240, 102'400, 1'024'000};
  return tenths[class_number] * (file + 1) / 10;
}

std::uint64_t bytes_of_directory() {
  std::uint64_t sum = 0;
  for (std::size_t n = 0; n < files_of_directory; ++n) sum += size_of(n / files_of_class, n % files_of_class);
  return sum;
}

void add_directory(std::vector<set_file>& to, std::uint64_t directory) {
  double zipf_sum = 0;
  for (unsigned rank = 1; rank <= files_of_class; ++rank) zipf_sum += 1.0 / rank;
  for (std::size_t n = 0; n < files_of_directory; ++n) {
    const std::size_t class_number = n / files_of_class;
    const std::size_t file = n % files_of_class;
    char name[64];
    std::snprintf(name, sizeof name, "dir%05u/class%zu_%zu", static_cast<unsigned>(directory), class_number, file);
    const double in_class = 1.0 / rank_in_class[file] / zipf_sum;
    to.push_back({name, size_of(class_number, file), class_weights[class_number] * in_class / static_cast<double>(directory + 1)});
  }
}

void write_file(const std::filesystem::path& path, const std::string& content) {
  std::ofstream out{path, std::ios::binary};
  out << content;
  out.close();
  if (!out) throw std::runtime_error{"cannot write " + path.string()};
}

}  // namespace

set_description specweb99_set(std::uint64_t files, std::uint64_t bytes, std::uint64_t seed) {
  set_description made;
  made.seed = seed;
  made.directories = std::max<std::uint64_t>(1, (files + files_of_directory - 1) / files_of_directory);
  if (bytes != 0) {
    const std::uint64_t one = bytes_of_directory();
    made.directories = std::min(made.directories, std::max<std::uint64_t>(1, (bytes + one / 2) / one));
  }
  made.files = made.directories * files_of_directory;
  return made;
}

std::vector<set_file> files_of(const set_description& set) {
  std::vector<set_file> all;
  if (set.shape == set_shape::specweb99) {
    for (std::uint64_t n = 0; n < set.directories; ++n) add_directory(all, n);
    return all;
  }
  for (std::uint64_t n = 0; n < set.files; ++n) {
    char name[64];
    std::snprintf(name, sizeof name, "file%06u", static_cast<unsigned>(n));
    all.push_back({name, static_cast<std::size_t>(set.file_bytes), 1});
  }
  return all;
}

std::string content_of(const set_description& set, std::size_t number, std::size_t bytes) {
  std::string text(bytes, '\0');
  random_source from{set.seed, number};
  for (std::size_t at = 0; at < bytes; at += sizeof(std::uint64_t)) {
    std::uint64_t word = from.next();
    std::array<char, sizeof word> in_order;  // the same on every machine
    for (char& each : in_order) {
      each = static_cast<char>(word);
      word >>= 8;
    }
    std::memcpy(text.data() + at, in_order.data(), std::min(sizeof word, bytes - at));
  }
  return text;
}

void make_set(const std::string& folder, const set_description& set) {
  const std::vector<set_file> all = files_of(set);
  for (std::size_t n = 0; n < all.size(); ++n) {
    const std::filesystem::path path = std::filesystem::path{folder} / all[n].name;
    std::filesystem::create_directories(path.parent_path());
    write_file(path, content_of(set, n, all[n].bytes));
  }
  write_file(std::filesystem::path{folder} / "set.json", to_json(set) + "\n");
}

set_description read_set(const std::string& folder) {
  const std::filesystem::path path = std::filesystem::path{folder} / "set.json";
  std::ifstream in{path, std::ios::binary};
  if (!in) throw std::runtime_error{"cannot read " + path.string() + ": tartan-load make-set makes it"};
  const std::string text{std::istreambuf_iterator<char>{in}, {}};
  try {
    return set_of_json(text);
  } catch (const std::runtime_error& wrong) {
    throw std::runtime_error{path.string() + ": " + wrong.what()};
  }
}

std::string to_json(const set_description& set) {
  json_object made;
  made.add("shape", set.shape == set_shape::flat ? "flat" : "specweb99").add("files", set.files).add("seed", set.seed);
  if (set.shape == set_shape::flat) made.add("file_bytes", set.file_bytes);
  if (set.shape == set_shape::specweb99) made.add("directories", set.directories);
  return made.text();
}

set_description set_of_json(std::string_view text) {
  constexpr std::uint64_t most_files = 10'000'000;
  const std::optional<flat_json> read = flat_json::parse(text);
  if (!read) throw std::runtime_error{"no description of a set"};
  set_description made;
  made.seed = read->number<std::uint64_t>("seed");
  made.files = read->number<std::uint64_t>("files");
  made.directories = read->number<std::uint64_t>("directories");
  made.file_bytes = read->number<std::uint64_t>("file_bytes");
  if (read->text("shape") == "flat") {
    made.shape = set_shape::flat;
    made.directories = set_description{}.directories;
  } else if (read->text("shape") == "specweb99" && made.files == made.directories * files_of_directory) {
    made.file_bytes = set_description{}.file_bytes;
  } else {
    throw std::runtime_error{"no set that this program knows"};
  }
  if (made.files == 0 || made.files > most_files) throw std::runtime_error{"a set has 1 to 10000000 files"};
  return made;
}

weighted_choice::weighted_choice(const std::vector<double>& weights) : cells_(weights.size()) {
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  std::vector<double> left(weights.size());
  std::vector<std::size_t> small;
  std::vector<std::size_t> large;
  for (std::size_t n = 0; n < weights.size(); ++n) {
    left[n] = weights[n] * static_cast<double>(weights.size()) / sum;
    (left[n] < 1 ? small : large).push_back(n);
  }
  while (!small.empty() && !large.empty()) {
    const std::size_t poor = small.back();
    const std::size_t rich = large.back();
    small.pop_back();
    cells_[poor] = {left[poor], rich};
    left[rich] -= 1 - left[poor];
    if (left[rich] < 1) {
      large.pop_back();
      small.push_back(rich);
    }
  }
  for (const std::vector<std::size_t>* rest : {&small, &large}) {
    for (const std::size_t n : *rest) cells_[n] = {1, n};
  }
}

}  // namespace load
