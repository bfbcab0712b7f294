#pragma once
// A run that computed something wrong has no figures.

#include <cstdio>
#include <string_view>

#include "bench/harness/request.h"

namespace bench {

/// Says on stderr what was wrong; gives the exit status of a program that failed.
[[nodiscard]] inline int wrong_result(const request& asked, std::string_view what) {
  std::fprintf(stderr, "%s: wrong result: %.*s\n", asked.contender.c_str(), static_cast<int>(what.size()), what.data());
  return 1;
}

}  // namespace bench
