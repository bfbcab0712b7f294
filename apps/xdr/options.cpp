#include "xdr/options.h"

#include <getopt.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>

#include "xdr/cpp_names.h"

namespace xdr_compiler {

namespace {

constexpr const char* help = R"(Usage: tartan-xdr [options] FILE.x
Generates C++20 for XDR types and RPC programs (RFC 4506, RFC 5531): FILE.h in the current folder.

  -o FILE             write this file instead; - is the standard output
  --namespace NAME    put everything into this namespace, as a::b; '' is none
                      (default: the name of the file)
  --by-reference N    opaque<n> with n of at least N, and opaque<>, refer to the message
                      instead of copying from it (default: 4096)
  -D NAME[=VALUE], -U NAME, -I FOLDER
                      for the C preprocessor, which runs if the file has lines with #
  --depfile FILE      write a rule for make that names all files that were read
  --classic           generate what libasync's rpcc does: FILE.h and FILE.C, beside the -o
    -h, -c            only FILE.h, only FILE.C
    -P PREFIX         begin each new name with PREFIX_
  --help, --version
Exit status: 0, or 1 if there was an error; then nothing was written.
)";

[[noreturn]] void refuse(const std::string& why) {
  std::fprintf(stderr, "tartan-xdr: %s (tartan-xdr --help lists the options)\n", why.c_str());
  throw ends{1};
}

bool is_identifier(const std::string& text) {
  const bool starts_right = !text.empty() && (text.front() < '0' || text.front() > '9');
  return starts_right &&
         text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == std::string::npos;
}

std::vector<std::string> read_namespaces(const std::string& text) {
  std::vector<std::string> all;
  for (std::size_t at = 0; !text.empty() && at <= text.size();) {
    const std::size_t end = std::min(text.find("::", at), text.size());
    const std::string name = text.substr(at, end - at);
    if (!is_identifier(name) || (cpp_name(name) != name && !(name == "tartan" && all.empty())))
      refuse("--namespace " + text + ": '" + name + "' is no name of a namespace");
    all.push_back(name);
    at = end + 2;
  }
  return all;
}

std::uint64_t read_size(const std::string& text) {
  char* end = nullptr;
  const unsigned long long value = std::strtoull(text.c_str(), &end, 10);
  if (text.empty() || text.front() < '0' || text.front() > '9' || *end != '\0')
    refuse("--by-reference " + text + ": not a number of bytes");
  return value;
}

enum long_option {
  namespace_option = 1000,
  by_reference_option,
  depfile_option,
  classic_option,
  help_option,
  version_option
};

constexpr std::array<option, 7> long_options{{{"namespace", required_argument, nullptr, namespace_option},
                                              {"by-reference", required_argument, nullptr, by_reference_option},
                                              {"depfile", required_argument, nullptr, depfile_option},
                                              {"classic", no_argument, nullptr, classic_option},
                                              {"help", no_argument, nullptr, help_option},
                                              {"version", no_argument, nullptr, version_option},
                                              {nullptr, 0, nullptr, 0}}};

void read_option(options& into, int which, const std::string& value) {
  switch (which) {
    case 'o':
      into.output = value;
      break;
    case 'D':
    case 'I':
    case 'U':
      into.for_cpp.push_back(std::string{'-', static_cast<char>(which)} + value);
      break;
    case 'P':
      into.prefix = value + "_";
      break;
    case 'h':
      into.part = classic_part::header;
      break;
    case 'c':
      into.part = classic_part::source;
      break;
    case namespace_option:
      into.namespaces = read_namespaces(value);
      break;
    case by_reference_option:
      into.by_reference = read_size(value);
      break;
    case depfile_option:
      into.depfile = value;
      break;
    case classic_option:
      into.is_classic = true;
      break;
    case help_option:
      std::fputs(help, stdout);
      throw ends{0};
    case version_option:
      std::puts("tartan-xdr " TARTAN_VERSION);
      throw ends{0};
    default:
      refuse("unknown option");
  }
}

void check(const options& all) {
  if (!all.is_classic && (all.part != classic_part::both || !all.prefix.empty()))
    refuse("-h, -c and -P are options of --classic");
  if (all.is_classic && all.namespaces) refuse("--namespace can't be used with --classic, whose names are global");
  if (all.is_classic && all.part == classic_part::both && !all.output.empty() && !all.output.ends_with(".h"))
    refuse("-o " + all.output + ": --classic writes two files: name the one that ends in .h, or add -h or -c");
  if (!all.prefix.empty() && !is_identifier(all.prefix)) refuse("-P " + all.prefix + ": no name can begin so");
  if (all.source == "-") refuse("-: the .x file must have a name");
}

}  // namespace

options read_options(int argc, char** argv) {
  options all;
  opterr = 0;
  for (;;) {
    const int which = getopt_long(argc, argv, ":o:D:I:U:P:hc", long_options.data(), nullptr);
    if (which == -1) break;
    const std::string word = optind > 0 ? argv[optind - 1] : "";
    if (which == ':') refuse(word + ": an argument is missing");
    if (which == '?')
      refuse(optopt > 0 && optopt < 128 ? std::string{"unknown option -"} + static_cast<char>(optopt)
                                        : "unknown option " + word);
    read_option(all, which, optarg != nullptr ? optarg : "");
  }
  if (optind >= argc) refuse("which file? Name one that ends in .x");
  if (optind + 1 < argc) refuse(std::string{argv[optind + 1]} + ": one file at a time");
  all.source = argv[optind];
  check(all);
  return all;
}

}  // namespace xdr_compiler
