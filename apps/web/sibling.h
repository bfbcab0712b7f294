#pragma once
/// Pre-compressed siblings of files, as page.html.br and page.html.gz are of page.html.

#include <tartan/http/content_coding.h>

#include <string>
#include <string_view>

#include "web/http.h"

namespace web {

/// What a sibling's name has behind the file's: ".br", ".gz"; empty for identity.
[[nodiscard]] std::string_view suffix_of(http::coding c) noexcept;

/// A path and a coding in one word, under which a page is kept. No path has a NUL in it.
[[nodiscard]] std::string key_of(std::string_view path, http::coding as);

/// What a key consists of.
///
/// Lifetime: the key's.
struct representation {
  std::string_view path;
  http::coding as = http::coding::identity;

  explicit representation(std::string_view key) noexcept;
};

}  // namespace web
