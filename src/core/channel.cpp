#include <tartan/core/channel.h>

#include <stdexcept>

namespace tartan::detail {

std::size_t checked_capacity(std::size_t values) {
  if (values == 0) throw std::invalid_argument{"tartan::channel: a capacity of 0; it must hold at least one value"};
  return values;
}

}  // namespace tartan::detail
