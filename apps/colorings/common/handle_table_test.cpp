#include "colorings/common/handle_table.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace colorings {
namespace {

handle some() { return std::make_shared<const web::file>(); }

/// Puts handles of all steps; gives them.
std::vector<opened_handle> put_all(handle_table& into, const path_prefixes& of) {
  std::vector<opened_handle> opened;
  for (std::size_t step = 0; step < of.all().size(); ++step) opened.push_back({step, some()});
  into.put(of, opened);
  return opened;
}

TEST(path_prefixes, are_those_of_each_folder_and_of_the_file) {
  const path_prefixes of{"/a/bc/d.html"};
  ASSERT_EQ(of.all().size(), 3U);
  EXPECT_EQ(of.path(0), "/a");
  EXPECT_EQ(of.path(1), "/a/bc");
  EXPECT_EQ(of.path(2), "/a/bc/d.html");
  EXPECT_EQ(of.name(0), "a");
  EXPECT_EQ(of.name(1), "bc");
  EXPECT_EQ(of.name(2), "d.html");
}

TEST(path_prefixes, of_a_folder_end_with_its_index) {
  EXPECT_EQ(path_prefixes{"/"}.file(), "/index.html");
  EXPECT_EQ(path_prefixes{"/a/"}.file(), "/a/index.html");
  EXPECT_EQ(path_prefixes{"/a/"}.all().size(), 2U);
}

TEST(path_prefixes, have_the_hashes_that_the_same_paths_have_elsewhere) {
  const path_prefixes longer{"/a/bc/d"};
  const path_prefixes shorter{"/a/bc"};
  EXPECT_EQ(longer.all()[1].hash, shorter.all()[1].hash);
  EXPECT_NE(longer.all()[1].hash, longer.all()[0].hash);
  EXPECT_NE(path_prefixes{"/ab"}.all()[0].hash, path_prefixes{"/ba"}.all()[0].hash);
}

TEST(handle_table, gives_the_longest_prefix_that_it_knows) {
  handle_table table{10};
  const handle root = some();
  const path_prefixes known{"/a/b/c"};
  EXPECT_EQ(table.longest(known, root).at, root);
  EXPECT_EQ(table.longest(known, root).steps, 0U);
  const std::vector<opened_handle> opened = put_all(table, known);
  EXPECT_EQ(table.longest(known, root).at, opened[2].what);
  EXPECT_EQ(table.longest(known, root).steps, 3U);
  const known_way beside = table.longest(path_prefixes{"/a/b/d"}, root);
  EXPECT_EQ(beside.at, opened[1].what);
  EXPECT_EQ(beside.steps, 2U);
  EXPECT_EQ(table.longest(path_prefixes{"/x/b/c"}, root).steps, 0U);
}

TEST(handle_table, replaces_what_is_opened_anew) {
  handle_table table{10};
  const path_prefixes path{"/a"};
  const handle old = put_all(table, path)[0].what;
  const handle now = put_all(table, path)[0].what;
  EXPECT_EQ(table.longest(path, nullptr).at, now);
  EXPECT_EQ(old.use_count(), 1);
}

TEST(handle_table, makes_room_by_what_was_not_used_for_the_longest) {
  handle_table table{2};
  const path_prefixes first{"/1"};
  const path_prefixes second{"/2"};
  const path_prefixes third{"/3"};
  const handle one = put_all(table, first)[0].what;
  const handle two = put_all(table, second)[0].what;
  EXPECT_EQ(table.longest(first, nullptr).at, one);
  put_all(table, third);
  EXPECT_EQ(table.longest(first, nullptr).at, one);
  EXPECT_EQ(table.longest(second, nullptr).at, nullptr);
  EXPECT_EQ(two.use_count(), 1);
}

}  // namespace
}  // namespace colorings
