// tartan-xdr: from .x files to C++.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "xdr/classic.h"
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

/// The header and the source are made of different texts: files ask which of them is made.
std::string classic_text(const options& with, bool is_header) {
  return read_source(with, {"-DTARTAN_XDR", "-DRPCC", is_header ? "-DRPCC_H" : "-DRPCC_C"});
}

void generate_classic(const options& with, bool is_header, const std::string& path, diagnostics& errors,
                      outputs& into) {
  const std::string stem{without_suffix(base_name(with.source))};
  const std::string header = with.output.ends_with(".h") ? std::string{base_name(with.output)} : stem + ".h";
  const classic_options how{with.source, with.prefix, header};
  const specification all = compile(classic_text(with, is_header), with.source, errors, unknown_names::pass_through);
  if (errors.count() == 0) check_classic(all, errors);
  if (errors.count() == 0) into.emplace_back(path, is_header ? classic_header(all, how) : classic_source(all, how));
}

outputs generate_classic(const options& with, diagnostics& errors) {
  outputs all;
  std::string source = output_of(with, ".C");
  if (source.ends_with(".h") && with.part == classic_part::both) source.replace(source.size() - 1, 1, "C");
  if (with.part != classic_part::source) generate_classic(with, true, output_of(with, ".h"), errors, all);
  if (with.part != classic_part::header && errors.count() == 0) generate_classic(with, false, source, errors, all);
  return all;
}

int run(int argc, char** argv) {
  const options with = read_options(argc, argv);
  diagnostics errors;
  const std::string text =
      with.is_classic ? classic_text(with, with.part != classic_part::source) : read_source(with, {"-DTARTAN_XDR"});
  const outputs all = with.is_classic ? generate_classic(with, errors) : generate_modern(with, text, errors);
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
