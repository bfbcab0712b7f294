#include <tartan/rpc/programs.h>

#include <algorithm>
#include <stdexcept>
#include <string>

namespace tartan::rpc {

programs& programs::add(std::uint32_t program, std::uint32_t version, handler start,
                        std::function<bool(std::uint32_t)> is_remembered) {
  if (find(program, version) != nullptr) {
    throw std::invalid_argument{"tartan: rpc::programs: program " + std::to_string(program) + " version " +
                                std::to_string(version) + " is there already"};
  }
  entries_.push_back({program, version, std::move(start), std::move(is_remembered)});
  return *this;
}

const programs::entry* programs::find(std::uint32_t program, std::uint32_t version) const noexcept {
  for (const entry& each : entries_) {
    if (each.program == program && each.version == version) return &each;
  }
  return nullptr;
}

std::optional<std::pair<std::uint32_t, std::uint32_t>> programs::versions(std::uint32_t program) const noexcept {
  std::optional<std::pair<std::uint32_t, std::uint32_t>> found;
  for (const entry& each : entries_) {
    if (each.program != program) continue;
    if (!found) found = {each.version, each.version};
    found->first = std::min(found->first, each.version);
    found->second = std::max(found->second, each.version);
  }
  return found;
}

}  // namespace tartan::rpc
