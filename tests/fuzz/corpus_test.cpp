// The corpora, without libFuzzer: what was found once is looked at in every build.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz_target.h"

namespace tartan::http::fuzz {
namespace {

struct named_target {
  std::string_view name;
  void (*run)(std::string_view);

  friend void PrintTo(const named_target& one, std::ostream* to) { *to << one.name; }
};

constexpr named_target targets[] = {
    {"request", fuzz_request},       {"response", fuzz_response}, {"target", fuzz_target},
    {"byte_range", fuzz_byte_range}, {"fields", fuzz_fields},     {"config", fuzz_config},
    {"http_date", fuzz_http_date},   {"proxy_header", fuzz_proxy_header}, {"forwarded_for", fuzz_forwarded_for},
    {"rpc_message", fuzz_rpc_message}, {"rpc_record", fuzz_rpc_record},
    {"xdr_source", fuzz_xdr_source}, {"xdr_value", fuzz_xdr_value},
#ifdef TARTAN_HAS_LLHTTP
    {"llhttp", fuzz_llhttp},
#endif
};

const std::filesystem::path folder = TARTAN_FUZZ_FOLDER;

std::vector<std::filesystem::path> files_in(const std::filesystem::path& where) {
  std::vector<std::filesystem::path> found;
  if (!std::filesystem::exists(where)) return found;
  for (const auto& each : std::filesystem::directory_iterator{where}) found.push_back(each.path());
  std::sort(found.begin(), found.end());
  return found;
}

/// Nothing, or the promise that is broken. The bytes are in memory of exactly their size.
std::string broken_by(const named_target& one, const std::filesystem::path& input) {
  std::cout << "input " << input.string() << '\n'
            << std::flush;  // if a sanitizer ends the program, this line says with what
  std::ifstream file{input, std::ios::binary};
  const std::string text{std::istreambuf_iterator<char>{file}, {}};
  const auto exact = std::make_unique<char[]>(text.size());
  std::copy(text.begin(), text.end(), exact.get());
  try {
    one.run({exact.get(), text.size()});
  } catch (const broken_promise& broken) {
    return broken.what();
  }
  return {};
}

class corpus : public testing::TestWithParam<named_target> {};

TEST_P(corpus, breaks_no_promise) {
  const std::vector<std::filesystem::path> inputs = files_in(folder / "corpus" / GetParam().name);
  EXPECT_FALSE(inputs.empty());
  for (const auto& each : inputs) EXPECT_EQ(broken_by(GetParam(), each), "") << each;
}

/// An input that shows a known mistake is in known/<target>, and known.txt says why; once it is mended, the input belongs to the corpus.
TEST_P(corpus, has_known_mistakes_that_are_still_there) {
  for (const auto& each : files_in(folder / "known" / GetParam().name))
    EXPECT_NE(broken_by(GetParam(), each), "") << each;
}

INSTANTIATE_TEST_SUITE_P(of, corpus, testing::ValuesIn(targets),
                         [](const auto& one) { return std::string{one.param.name}; });

TEST(known_mistakes, have_a_reason_each) {
  std::set<std::string> listed;
  std::ifstream file{folder / "known.txt"};
  ASSERT_TRUE(file.is_open());
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line.starts_with('#')) continue;
    const std::size_t blank = line.find(' ');
    ASSERT_NE(blank, std::string::npos) << line;
    listed.insert(line.substr(0, blank));
  }
  std::set<std::string> there;
  for (const auto& target : files_in(folder / "known")) {
    for (const auto& each : files_in(target)) there.insert(target.filename().string() + "/" + each.filename().string());
  }
  EXPECT_EQ(listed, there);
}

}  // namespace
}  // namespace tartan::http::fuzz
