#include "colorings/common/path_prefixes.h"

namespace colorings {

path_prefixes::path_prefixes(std::string_view path) : file_{path} {
  if (file_.ends_with('/')) file_ += "index.html";
  std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a: one pass gives the hash of every prefix
  for (std::size_t at = 0; at < file_.size(); ++at) {
    if (at != 0 && file_[at] == '/') all_.push_back({hash, at});
    hash = (hash ^ static_cast<unsigned char>(file_[at])) * 0x100000001b3;
  }
  all_.push_back({hash, file_.size()});
}

std::string path_prefixes::name(std::size_t n) const {
  const std::size_t begin = n == 0 ? 1 : all_[n - 1].end + 1;
  return file_.substr(begin, all_[n].end - begin);
}

}  // namespace colorings
