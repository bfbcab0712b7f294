#include "simulation/machine.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace simulation {

constants::constants(const std::string& file) {
  std::ifstream in{file};
  if (!in) std::exit((std::fprintf(stderr, "simulate: cannot read %s\n", file.c_str()), 2));
  std::stringstream all;
  all << in.rdbuf();
  const std::string text = all.str();
  for (std::size_t at = text.find('"'); at != std::string::npos; at = text.find('"', at)) {
    const std::size_t end = text.find('"', at + 1);
    const std::size_t colon = text.find_first_not_of(" :", end + 1);
    if (colon == std::string::npos) break;
    char* behind = nullptr;
    const double value = std::strtod(text.c_str() + colon, &behind);
    if (behind != text.c_str() + colon) values_.insert_or_assign(text.substr(at + 1, end - at - 1), value);
    // A text instead of a number is a remark.
    at = text[colon] == '"' ? text.find('"', colon + 1) + 1 : end + 1;
  }
}

double constants::at(std::string_view name) const {
  const auto found = values_.find(name);
  if (found == values_.end()) std::exit((std::fprintf(stderr, "simulate: the constants have no %s\n", std::string{name}.c_str()), 2));
  return found->second;
}

machine::machine(const constants& from)
    : cores{static_cast<unsigned>(from.at("cores"))},
      cores_per_group{static_cast<unsigned>(from.at("cores_per_group"))},
      own_lines{static_cast<std::uint32_t>(from.at("own_cache_kb") * 16)},
      group_lines{static_cast<std::uint32_t>(from.at("shared_cache_kb") * 16)},
      near_cache_load{from.ps("near_cache_load_ns")},
      near_cache_stream{from.ps("near_cache_stream_ns")},
      near_core_load{from.ps("near_core_load_ns")},
      far_load{from.ps("far_load_ns")},
      memory_load{from.ps("memory_load_ns")},
      memory_stream{from.ps("memory_stream_ns")},
      near_store{from.ps("near_store_ns")},
      far_store{from.ps("far_store_ns")},
      rmw{from.ps("rmw_ns")},
      fence{from.ps("fence_ns")},
      pause{from.ps("pause_ns")},
      clock{from.ps("clock_ns")},
      allocation{from.ps("new_delete_ns") / 2},
      barrier_alone{from.ps("membarrier_alone_ns")},
      barrier{from.ps("membarrier_ns")},
      wake{from.ps("futex_wake_ns")},
      wake_to_run{from.ps("wake_to_run_ns")},
      sleep{from.ps("futex_refused_ns")},
      yield{from.ps("yield_ns")} {}

}  // namespace simulation
