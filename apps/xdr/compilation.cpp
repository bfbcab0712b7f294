#include "xdr/compilation.h"

#include "xdr/lexer.h"
#include "xdr/parser.h"

namespace xdr_compiler {

specification compile(std::string_view text, const std::string& file, diagnostics& errors, unknown_names unknown) {
  specification all = parse(read_tokens(text, file, errors), errors, unknown == unknown_names::pass_through);
  for (const auto& each : all.definitions) each->is_imported = *each->at.file != file && each->at.file->ends_with(".x");
  if (errors.count() == 0) check(all, errors, unknown);
  return all;
}

}  // namespace xdr_compiler
