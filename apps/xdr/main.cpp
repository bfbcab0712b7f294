// tartan-xdr: from .x files to C++.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "xdr/compilation.h"
#include "xdr/cpp_names.h"
#include "xdr/lexer.h"
#include "xdr/modern.h"
#include "xdr/options.h"
#include "xdr/output_file.h"
#include "xdr/preprocessor.h"

namespace {

using namespace xdr_compiler;

/// The .x file ready for the lexer.
std::string read_source(const options& with, std::vector<std::string> for_cpp) {
  std::string text = read_file(with.source);
  if (!has_directives(text)) return text;
  for_cpp.insert(for_cpp.end(), with.for_cpp.begin(), with.for_cpp.end());
  return preprocess(with.source, for_cpp);
}

/// Files that line markers name.
std::set<std::string> files_of(const std::string& text) {
  std::set<std::string> all;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    const std::size_t open = line.find('"');
    const std::size_t close = line.rfind('"');
    if (line.starts_with("# ") && open != close) all.insert(line.substr(open + 1, close - open - 1));
    at = end + 1;
  }
  return all;
}

std::string rule_for_make(const std::vector<std::string>& outputs, const std::string& source, const std::string& text) {
  std::set<std::string> all = files_of(text);
  all.insert(source);
  std::string rule;
  for (const std::string& each : outputs) rule += each + " ";
  rule.back() = ':';
  for (const std::string& each : all) {
    if (!each.starts_with('<')) rule += " \\\n  " + each;
  }
  return rule + "\n";
}

/// The path of an output that has the name of the .x file, in the current folder.
std::string output_of(const options& with, const std::string& suffix) {
  if (!with.output.empty()) return with.output;
  return std::string{without_suffix(base_name(with.source))} + suffix;
}

/// Each output's path and text.
using outputs = std::vector<std::pair<std::string, std::string>>;

outputs generate_modern(const options& with, const std::string& text, diagnostics& errors) {
  const specification all = compile(text, with.source, errors);
  if (errors.count() != 0) return {};
  modern_options how{with.source, {namespace_of_file(with.source)}, with.namespaces.has_value(), with.by_reference};
  if (with.namespaces) how.namespaces = *with.namespaces;
  return {{output_of(with, ".h"), modern_header(all, how)}};
}

int run(int argc, char** argv) {
  const options with = read_options(argc, argv);
  diagnostics errors;
  const std::string text = read_source(with, {"-DTARTAN_XDR"});
  const outputs all = generate_modern(with, text, errors);
  if (errors.count() != 0) {
    std::fputs(errors.to_text().c_str(), stderr);
    return 1;
  }
  std::vector<std::string> paths;
  for (const auto& [path, content] : all) {
    write_file(path, content);
    paths.push_back(path);
  }
  if (!with.depfile.empty()) write_file(with.depfile, rule_for_make(paths, with.source, text));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const xdr_compiler::ends& now) {
    return now.status;
  } catch (const std::exception& wrong) {
    std::fprintf(stderr, "tartan-xdr: %s\n", wrong.what());
    return 1;
  }
}
