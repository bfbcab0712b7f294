// A stream's iterators hand the failure of a read on as an exception; what ends meanwhile may be any process of the machine.
#include "load/proc_file.h"

#include <array>
#include <cstddef>
#include <fstream>

namespace load {

std::string content_of(const std::string& proc_file) {
  std::ifstream in{proc_file, std::ios::binary};
  std::string all;
  std::array<char, 4096> piece;
  while (in) {
    in.read(piece.data(), piece.size());
    all.append(piece.data(), static_cast<std::size_t>(in.gcount()));
  }
  return all;
}

}  // namespace load
