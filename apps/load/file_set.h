#pragma once
/// The files that a web server is asked for.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "load/random.h"

namespace load {

enum class set_shape : std::uint8_t {
  specweb99,  ///< directories of 36 files in four classes
  flat,       ///< files of one size
};

/// All that tells one set from another: names, sizes and contents follow from it.
struct set_description {
  set_shape shape = set_shape::specweb99;
  std::uint64_t directories = 20;   ///< of specweb99
  std::uint64_t files = 720;
  std::uint64_t file_bytes = 4096;  ///< of flat
  std::uint64_t seed = 1;

  bool operator==(const set_description&) const = default;
};

/// `files` rounded up to whole directories; no more of them than make `bytes`, if that is not 0.
[[nodiscard]] set_description specweb99_set(std::uint64_t files, std::uint64_t bytes, std::uint64_t seed);

/// One file of a set.
struct set_file {
  std::string name;  ///< below the folder
  std::size_t bytes = 0;
  double weight = 0; ///< its part of all requests is this of the sum
};

/// In a fixed order.
[[nodiscard]] std::vector<set_file> files_of(const set_description& set);

/// What is in the file with this number: the same bytes on every machine.
[[nodiscard]] std::string content_of(const set_description& set, std::size_t number, std::size_t bytes);

/// Writes all files, and set.json with the description. Errors: std::runtime_error, std::filesystem::filesystem_error.
void make_set(const std::string& folder, const set_description& set);

/// Reads set.json. Errors: std::runtime_error.
[[nodiscard]] set_description read_set(const std::string& folder);

/// As one line, and back. Errors: std::runtime_error.
[[nodiscard]] std::string to_json(const set_description& set);
[[nodiscard]] set_description set_of_json(std::string_view text);

/// Draws numbers with given weights, in constant time (Walker's alias method).
class weighted_choice {
 public:
  weighted_choice() = default;
  explicit weighted_choice(const std::vector<double>& weights);

  [[nodiscard]] std::size_t draw(random_source& from) const noexcept {
    const auto at = static_cast<std::size_t>(from.below(cells_.size()));
    return from.part() < cells_[at].own ? at : cells_[at].alias;
  }

 private:
  struct cell {
    double own = 1;
    std::size_t alias = 0;
  };
  std::vector<cell> cells_;
};

}  // namespace load
