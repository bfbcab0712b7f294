#include "load/file_set.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <numeric>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/temporary_folder.h"

namespace load {
namespace {

constexpr double draws = 1'000'000;

/// How many of a million draws fall on each number.
std::vector<double> drawn(const std::vector<double>& weights) {
  const weighted_choice choice{weights};
  random_source from{12345};
  std::vector<double> times(weights.size());
  for (int n = 0; n < static_cast<int>(draws); ++n) ++times[choice.draw(from)];
  return times;
}

std::vector<double> weights_of(const std::vector<set_file>& files) {
  std::vector<double> weights;
  for (const set_file& each : files) weights.push_back(each.weight);
  return weights;
}

/// Which of the two numbers behind "class" a name has.
std::size_t class_of(const set_file& file) { return static_cast<std::size_t>(file.name.at(14) - '0'); }
std::size_t place_of(const set_file& file) { return static_cast<std::size_t>(file.name.at(16) - '0'); }

std::string content_of_file(const std::filesystem::path& path) {
  std::ifstream in{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{in}, {}};
}

TEST(a_specweb99_set, has_720_files_of_a_hundred_megabytes) {
  const std::vector<set_file> files = files_of(specweb99_set(720, 0, 1));
  ASSERT_EQ(files.size(), 720u);
  const std::size_t bytes = std::accumulate(files.begin(), files.end(), std::size_t{0}, [](std::size_t sum, const set_file& f) { return sum + f.bytes; });
  EXPECT_NEAR(static_cast<double>(bytes), 102.4e6, 0.1e6);
  std::set<std::string> names;
  for (const set_file& each : files) names.insert(each.name);
  EXPECT_EQ(names.size(), 720u);
  EXPECT_EQ(files.front().name, "dir00000/class0_0");
  EXPECT_EQ(files.back().name, "dir00019/class3_8");
}

TEST(a_specweb99_set, has_nine_sizes_in_each_of_four_classes) {
  std::vector<std::size_t> sizes;
  for (const set_file& each : files_of(specweb99_set(36, 0, 1))) sizes.push_back(each.bytes);
  ASSERT_EQ(sizes.size(), 36u);
  EXPECT_EQ((std::vector<std::size_t>{sizes.begin(), sizes.begin() + 9}), (std::vector<std::size_t>{102, 204, 307, 409, 512, 614, 716, 819, 921}));
  EXPECT_EQ(sizes[9], 1024u);
  EXPECT_EQ(sizes[17], 9216u);
  EXPECT_EQ(sizes[18], 10'240u);
  EXPECT_EQ(sizes[26], 92'160u);
  EXPECT_EQ(sizes[27], 102'400u);
  EXPECT_EQ(sizes[35], 921'600u);
}

TEST(a_specweb99_set, is_asked_for_35_50_14_and_1_percent_of_its_classes) {
  const std::vector<set_file> files = files_of(specweb99_set(720, 0, 1));
  const std::vector<double> times = drawn(weights_of(files));
  std::array<double, 4> by_class{};
  for (std::size_t n = 0; n < files.size(); ++n) by_class[class_of(files[n])] += times[n] / draws;
  constexpr std::array<double, 4> wanted{0.35, 0.50, 0.14, 0.01};
  for (std::size_t n = 0; n < 4; ++n) EXPECT_NEAR(by_class[n], wanted[n], 0.002) << n;
}

TEST(a_specweb99_set, is_asked_most_for_the_middle_file_of_a_class) {
  const std::vector<set_file> files = files_of(specweb99_set(720, 0, 1));
  const std::vector<double> times = drawn(weights_of(files));
  std::array<double, 9> by_place{};
  for (std::size_t n = 0; n < files.size(); ++n) by_place[place_of(files[n])] += times[n] / draws;
  constexpr std::array<double, 9> wanted{0.039, 0.059, 0.088, 0.118, 0.353, 0.177, 0.071, 0.050, 0.044};
  for (std::size_t n = 0; n < 9; ++n) EXPECT_NEAR(by_place[n], wanted[n], 0.003) << n;
}

TEST(a_specweb99_set, is_asked_for_its_directories_by_zipfs_law) {
  const std::vector<set_file> files = files_of(specweb99_set(144, 0, 1));
  const std::vector<double> times = drawn(weights_of(files));
  std::array<double, 4> by_directory{};
  for (std::size_t n = 0; n < files.size(); ++n) by_directory[n / 36] += times[n] / draws;
  const double all = 1 + 1.0 / 2 + 1.0 / 3 + 1.0 / 4;
  for (std::size_t n = 0; n < 4; ++n) EXPECT_NEAR(by_directory[n], 1 / static_cast<double>(n + 1) / all, 0.003) << n;
}

TEST(a_specweb99_set, has_whole_directories_and_about_as_many_bytes_as_were_wanted) {
  EXPECT_EQ(specweb99_set(1, 0, 1).files, 36u);
  EXPECT_EQ(specweb99_set(37, 0, 1).files, 72u);
  EXPECT_EQ(specweb99_set(720, 100'000'000, 1).files, 720u);
  EXPECT_EQ(specweb99_set(7200, 100'000'000, 1).files, 720u);
  EXPECT_EQ(specweb99_set(36, 100'000'000, 1).files, 36u);
  EXPECT_EQ(specweb99_set(720, 1, 1).files, 36u);
}

TEST(a_flat_set, has_files_of_one_size_that_are_asked_for_evenly) {
  set_description flat;
  flat.shape = set_shape::flat;
  flat.files = 700;
  flat.file_bytes = 4096;
  const std::vector<set_file> files = files_of(flat);
  ASSERT_EQ(files.size(), 700u);
  EXPECT_TRUE(std::all_of(files.begin(), files.end(), [](const set_file& f) { return f.bytes == 4096; }));
  for (const double times : drawn(weights_of(files))) EXPECT_NEAR(times, draws / 700, 6 * std::sqrt(draws / 700));
}

TEST(what_is_in_a_set, follows_from_its_seed_and_the_number_of_the_file) {
  set_description set;
  const std::string first = content_of(set, 0, 1021);
  EXPECT_EQ(first.size(), 1021u);
  EXPECT_EQ(content_of(set, 0, 1021), first);
  EXPECT_EQ(content_of(set, 0, 1000), first.substr(0, 1000));
  EXPECT_NE(content_of(set, 1, 1021), first);
  set.seed = 2;
  EXPECT_NE(content_of(set, 0, 1021), first);
  EXPECT_GT(std::set<char>(first.begin(), first.end()).size(), 200u) << "what a server could compress is no test of it";
}

TEST(what_is_in_a_set, never_changes_from_one_version_to_the_next) {
  EXPECT_EQ(content_of(set_description{}, 0, 4), std::string("\xa1\xf8\xfe\x91", 4));
}

TEST(a_set_on_disk, is_what_its_description_says) {
  const tartan::test::temporary_folder folder;
  const set_description made = specweb99_set(36, 0, 9);
  make_set(folder.path().string(), made);
  EXPECT_EQ(read_set(folder.path().string()), made);
  const std::vector<set_file> files = files_of(made);
  for (std::size_t n = 0; n < files.size(); ++n) {
    EXPECT_TRUE(content_of_file(folder / files[n].name) == content_of(made, n, files[n].bytes)) << files[n].name;
  }
}

TEST(a_set_on_disk, without_a_description_is_refused_with_its_path) {
  const tartan::test::temporary_folder folder;
  try {
    static_cast<void>(read_set(folder.path().string()));
    FAIL();
  } catch (const std::runtime_error& wrong) {
    EXPECT_NE(std::string{wrong.what()}.find("set.json"), std::string::npos);
  }
}

TEST(a_description_of_a_set, is_read_back_and_nothing_else_is) {
  set_description flat;
  flat.shape = set_shape::flat;
  flat.files = 3;
  flat.file_bytes = 5;
  flat.seed = 7;
  EXPECT_EQ(set_of_json(to_json(flat)), flat);
  for (const char* const text : {"", "{}", "[]", R"({"shape": "round", "files": 1})", R"({"shape": "flat", "files": 0})",
                                 R"({"shape": "specweb99", "files": 35, "directories": 1})", R"({"shape": "flat", "files": 99999999})"}) {
    EXPECT_THROW(static_cast<void>(set_of_json(text)), std::runtime_error) << text;
  }
}

TEST(a_weighted_choice, draws_by_its_weights_however_uneven) {
  const std::vector<double> times = drawn({1, 0, 1000, 9});
  EXPECT_NEAR(times[0] / draws, 1.0 / 1010, 0.0003);
  EXPECT_EQ(times[1], 0);
  EXPECT_NEAR(times[2] / draws, 1000.0 / 1010, 0.0005);
  EXPECT_NEAR(times[3] / draws, 9.0 / 1010, 0.0005);
}

}  // namespace
}  // namespace load
