#include <tartan/core/sharded.h>

#include <stdexcept>

namespace tartan::detail {

std::size_t checked_shards(std::size_t count) {
  constexpr std::size_t most_shards = 65536;
  if (count != 0 && count <= most_shards) return count;
  throw std::invalid_argument{"tartan::sharded: " + std::to_string(count) + " shards, but it must be 1 to 65536"};
}

std::string shard_name(std::string_view name, std::size_t number) {
  if (name.empty()) return {};
  return std::string{name} + ' ' + std::to_string(number);
}

}  // namespace tartan::detail
