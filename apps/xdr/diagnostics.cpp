#include "xdr/diagnostics.h"

#include <cstddef>
#include <map>
#include <tuple>

namespace xdr_compiler {

std::string line_of(const place& at) {
  return *at.file + ":" + std::to_string(at.line);
}

void diagnostics::error(const place& at, const std::string& message) {
  if (++count_ <= most) errors_.push_back({at, message});
}

std::string diagnostics::to_text() const {
  std::map<const std::string*, std::size_t> order;  // of the files, by their first errors
  for (const entry& each : errors_) order.emplace(each.at.file, order.size());
  std::multimap<std::tuple<std::size_t, std::uint32_t, std::uint32_t>, const entry*> sorted;
  for (const entry& each : errors_) sorted.emplace(std::tuple{order[each.at.file], each.at.line, each.at.column}, &each);
  std::string text;
  for (const auto& [at, each] : sorted)
    text += line_of(each->at) + ":" + std::to_string(each->at.column) + ": " + each->message + "\n";
  if (count_ > most) text += std::to_string(count_ - most) + " more errors are not shown\n";
  return text;
}

}  // namespace xdr_compiler
