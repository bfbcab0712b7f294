#pragma once
/// How far two CPUs are from each other, by the caches that they share.

#include <string>
#include <vector>

namespace tartan::detail {

/// For each CPU of these, all others of them, nearest first: by the level of the first cache that both share, then the node, then the
/// place in `cpus`, round: so that not all of them go to the same one first.
///
/// Source of the idea: Mely, III.A. What it knows is from `root`/devices/system/cpu (sysfs); where that says nothing, all are equally far.
/// Gives positions in `cpus`. Errors: std::bad_alloc; files that cannot be read are as if they were not there.
[[nodiscard]] std::vector<std::vector<unsigned>> nearest_first(const std::vector<unsigned>& cpus, const std::string& root = "/sys");

}  // namespace tartan::detail
