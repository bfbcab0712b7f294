#pragma once
/// For tests: bytes come in, as from a connection.

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <string_view>

#include "web/read_buffer.h"

namespace web::test {

inline void receive(read_buffer& into, std::string_view text) {
  while (!text.empty()) {
    const std::span<std::byte> room = into.room();
    const std::size_t part = std::min(room.size(), text.size());
    std::memcpy(room.data(), text.data(), part);
    into.add(part);
    text.remove_prefix(part);
  }
}

}  // namespace web::test
