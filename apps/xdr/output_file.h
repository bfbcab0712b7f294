#pragma once
/// Files that are written whole or not at all.

#include <string>

namespace xdr_compiler {

/// Writes the text under another name and renames it to `path`; "-" is the standard output.
///
/// Errors: failure; then the file is as it was.
void write_file(const std::string& path, const std::string& text);

}  // namespace xdr_compiler
