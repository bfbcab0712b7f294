#pragma once
/// Errors in .x files.

#include <cstdint>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace xdr_compiler {

/// Where a token begins. Lines and columns count from 1; a tab is one column.
struct place {
  const std::string* file = nullptr;  ///< owned by the diagnostics
  std::uint32_t line = 0;
  std::uint32_t column = 0;
};

/// "FILE:LINE"
[[nodiscard]] std::string line_of(const place& at);

/// Collects errors, in the order of their lines.
class diagnostics {
 public:
  /// Errors beyond this number are counted, but not kept.
  static constexpr std::size_t most = 50;

  /// The same string for the same name, for as long as this object lives.
  const std::string* file(const std::string& name) { return &*files_.insert(name).first; }
  void error(const place& at, const std::string& message);

  [[nodiscard]] std::size_t count() const noexcept { return count_; }
  /// "FILE:LINE:COLUMN: message", a line each; then how many were left out.
  [[nodiscard]] std::string to_text() const;

 private:
  struct entry {
    place at;
    std::string message;
  };

  std::set<std::string> files_;
  std::vector<entry> errors_;
  std::size_t count_ = 0;
};

/// A file that can't be read or written, or a preprocessor that fails. Its text is the whole message.
class failure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace xdr_compiler
