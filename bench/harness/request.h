#pragma once
// What one run of a benchmark program is asked for.

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace bench {

/// Command line: <workers> [scale] [variant].
struct request {
  request(int argc, char** argv, std::string_view program) : contender{program} {
    if (argc < 2 || argc > 4) {
      std::fprintf(stderr, "usage: %s <workers> [scale = 1] [variant]\n", argv[0]);
      std::exit(2);
    }
    workers = static_cast<unsigned>(std::strtoul(argv[1], nullptr, 10));
    if (argc > 2) scale = std::strtod(argv[2], nullptr);
    if (argc > 3) variant = argv[3];
    if (workers == 0 || !(scale > 0)) {
      std::fprintf(stderr, "%s: workers and scale are more than 0\n", argv[0]);
      std::exit(2);
    }
  }

  /// The size from workloads at scale 1, scaled, and a multiple of `unit`.
  [[nodiscard]] std::size_t size(std::size_t at_scale_1, std::size_t unit = 1) const {
    const auto scaled = static_cast<std::size_t>(static_cast<double>(at_scale_1) * scale) / unit * unit;
    return scaled == 0 ? unit : scaled;
  }
  [[nodiscard]] bool is(std::string_view name) const { return variant == name; }

  std::string contender;
  unsigned workers = 1;
  double scale = 1;
  std::string variant;
};

/// How a contender's lanes are set up; a lane is what the contender runs serially: a color, a strand, a node.
struct lanes_setup {
  unsigned workers = 1;
  std::size_t lanes = 0;
  bool fed_from_outside = false;  ///< a thread that is no worker posts everything
  bool stealing = true;
  bool tells = false;      ///< what an event tells of itself by `told()` goes with it
  bool pin_first = false;  ///< on_first_worker is used
};

}  // namespace bench
