#pragma once
/// The C preprocessor, for files that have lines with #.

#include <string>
#include <vector>

namespace xdr_compiler {

/// All of the file.
///
/// Errors: failure.
[[nodiscard]] std::string read_file(const std::string& path);

/// The text of the file behind `cpp`, with line markers. Columns stay as they are, except where macros are replaced.
///
/// Errors: failure: there is no cpp, or it has reported an error itself.
[[nodiscard]] std::string preprocess(const std::string& path, const std::vector<std::string>& arguments);

}  // namespace xdr_compiler
