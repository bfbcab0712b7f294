// Files of tartan-xdr: errors with their places, or C++ in both forms.
//
// Input: the .x file, behind the preprocessor.
#include <algorithm>
#include <string>

#include "fuzz_target.h"
#include "xdr/classic.h"
#include "xdr/compilation.h"
#include "xdr/lexer.h"
#include "xdr/modern.h"

namespace tartan::http::fuzz {

namespace {

/// "f.x:LINE:COLUMN: message", and the file has that line.
void check_error(std::string_view said, long lines) {
  promise(said.starts_with("f.x:"), "an error names the file");
  std::size_t end = 0;
  const long line = std::stol(std::string{said.substr(4)}, &end);
  promise(line >= 1 && line <= lines, "the file has that line");
  const std::string_view behind = said.substr(4 + end);
  promise(behind.starts_with(':') && behind.size() > 1 && behind[1] >= '1' && behind[1] <= '9',
          "an error names the column");
  promise(behind.find(": ") != std::string_view::npos, "an error says what is wrong");
}

}  // namespace

void fuzz_xdr_source(std::string_view input) {
  using namespace xdr_compiler;
  diagnostics errors;
  const specification all = compile(input, "f.x", errors);
  const std::string said = errors.to_text();
  promise((errors.count() == 0) == said.empty(), "each error is told");
  if (!said.empty()) {
    if (has_directives(input) || errors.count() > diagnostics::most) return;  // markers move the place
    const long lines = std::count(input.begin(), input.end(), '\n') + 1;
    for (std::size_t at = 0; at < said.size();) {
      const std::size_t end = said.find('\n', at);
      check_error(std::string_view{said}.substr(at, end - at), lines);
      at = end + 1;
    }
    return;
  }
  const std::string header = modern_header(all, {"f.x", {"f"}, false, 4096});
  promise(header.find("#pragma once") != std::string::npos, "a header is complete");
  diagnostics refused;
  check_classic(all, refused);
  if (refused.count() != 0) return;
  promise(classic_header(all, {"f.x", "", "f.h"}).ends_with("_INCLUDED__ */\n"), "a classic header is complete");
  promise(classic_source(all, {"f.x", "", "f.h"}).find("#include \"f.h\"") != std::string::npos,
          "a classic source is complete");
}

}  // namespace tartan::http::fuzz
