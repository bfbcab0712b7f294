#pragma once
/// The command line of tartan-xdr.

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace xdr_compiler {

enum class classic_part { both, header, source };

struct options {
  std::string source;                                  ///< the .x file
  std::string output;                                  ///< -o; "-": standard output
  bool is_classic = false;                             ///< --classic
  classic_part part = classic_part::both;              ///< -h, -c
  std::string prefix;                                  ///< -P, with its underscore
  std::optional<std::vector<std::string>> namespaces;  ///< --namespace; none: by the name of the file
  std::uint64_t by_reference = 4096;                   ///< --by-reference
  std::string depfile;                                 ///< --depfile
  std::vector<std::string> for_cpp;                    ///< -D, -I, -U
};

/// The program has said what it was asked, or what is wrong, and ends with this status.
struct ends {
  int status;
};

/// Errors: throws ends, after a message.
[[nodiscard]] options read_options(int argc, char** argv);

}  // namespace xdr_compiler
