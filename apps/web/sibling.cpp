#include "web/sibling.h"

namespace web {

std::string_view suffix_of(http::coding c) noexcept {
  switch (c) {
    case http::coding::brotli: return ".br";
    case http::coding::gzip: return ".gz";
    case http::coding::identity: break;
  }
  return {};
}

std::string key_of(std::string_view path, http::coding as) {
  std::string key{path};
  if (as != http::coding::identity) key.append(1, '\0').append(suffix_of(as));
  return key;
}

representation::representation(std::string_view key) noexcept : path{key.substr(0, key.find('\0'))} {
  for (const http::coding each : http::compressions) {
    if (path.size() != key.size() && key.substr(path.size() + 1) == suffix_of(each)) as = each;
  }
}

}  // namespace web
