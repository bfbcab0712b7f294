#pragma once
/// From the text of a .x file to tokens.

#include <string>
#include <string_view>
#include <vector>

#include "xdr/diagnostics.h"

namespace xdr_compiler {

struct token {
  enum class kind {
    identifier,  ///< also a keyword, or names with :: between them
    number,      ///< decimal, octal or hexadecimal, with its sign
    symbol,      ///< one of { } ( ) [ ] < > ; : , = *
    text,        ///< a line that began with %, without it
    end,
  };

  kind what = kind::end;
  std::string text;
  place at;

  [[nodiscard]] bool is(std::string_view word) const noexcept {
    return (what == kind::identifier || what == kind::symbol) && text == word;
  }
};

/// The tokens of a text; the last one is the end. Line markers of a preprocessor (# 12 "file") move the place of what
/// follows. Comments are those of C and C++.
///
/// Errors: reported; what is wrong is left out.
[[nodiscard]] std::vector<token> read_tokens(std::string_view text, const std::string& file, diagnostics& errors);

/// Whether a line begins with #, so that the file needs the preprocessor.
[[nodiscard]] bool has_directives(std::string_view text) noexcept;

}  // namespace xdr_compiler
