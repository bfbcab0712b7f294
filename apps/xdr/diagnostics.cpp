#include "xdr/diagnostics.h"

#include <algorithm>
#include <tuple>

namespace xdr_compiler {

std::string line_of(const place& at) {
  return *at.file + ":" + std::to_string(at.line);
}

void diagnostics::error(const place& at, const std::string& message) {
  if (++count_ <= most) errors_.push_back({at, message});
}

std::string diagnostics::to_text() const {
  std::vector<entry> sorted = errors_;
  std::stable_sort(sorted.begin(), sorted.end(), [](const entry& a, const entry& b) {
    return a.at.file == b.at.file && std::tie(a.at.line, a.at.column) < std::tie(b.at.line, b.at.column);
  });
  std::string text;
  for (const entry& each : sorted)
    text += line_of(each.at) + ":" + std::to_string(each.at.column) + ": " + each.message + "\n";
  if (count_ > most) text += std::to_string(count_ - most) + " more errors are not shown\n";
  return text;
}

}  // namespace xdr_compiler
