#include "web/listing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace web {
namespace {

/// The links and what they show, in order.
std::string links_of(const std::string& page) {
  std::string all;
  for (std::size_t at = page.find("<a href="); at != std::string::npos; at = page.find("<a href=", at + 1)) {
    all += page.substr(at + 8, page.find("</a>", at) - at - 8) + " ";
  }
  return all;
}

TEST(listing, has_folders_first_and_all_by_name) {
  const std::string page = listing_page("/a/", {{"z", false, 5, 0}, {"b", false, 6, 0}, {"y", true, 0, 0}, {"c", true, 0, 0}});
  EXPECT_EQ(links_of(page), "\"../\">../ \"./c/\">c/ \"./y/\">y/ \"./b\">b \"./z\">z ");
}

TEST(listing, of_the_whole_has_no_way_up) { EXPECT_EQ(links_of(listing_page("/", {{"b", false, 6, 0}})), "\"./b\">b "); }

TEST(listing, shows_size_and_time_of_a_file) {
  const std::string page = listing_page("/", {{"b", false, 6, 784111777}, {"c", true, 4096, 784111777}});
  EXPECT_NE(page.find("\">b</a></td><td>6</td><td>1994-11-06 08:49</td>"), std::string::npos) << page;
  EXPECT_NE(page.find("\">c/</a></td><td></td><td>1994-11-06 08:49</td>"), std::string::npos) << page;
}

TEST(listing, counts_what_is_too_much) {
  const std::string page = listing_page("/", std::vector<listed>(5000, {"a name", false, 0, 0}));
  EXPECT_LT(page.size(), 129u * 1024);
  const auto shown = std::count(page.begin(), page.end(), '\n') - 4;  // lines that are no rows, and the last row
  EXPECT_NE(page.find("<tr><td>and " + std::to_string(5000 - shown) + " more</td>"), std::string::npos) << shown << page.substr(page.size() - 99);
}

TEST(listing, takes_no_name_for_its_own_text) {
  const std::vector<listed> odd{{"<script>\"'&", false, 0, 0}, {"http:a", false, 0, 0}, {"a\nb\x7f", false, 0, 0}, {"\xc3\xa4 %?#", false, 0, 0}};
  const std::string page = listing_page("/<x>&\"/", odd);
  EXPECT_EQ(page.find("<script>"), std::string::npos);
  EXPECT_NE(page.find("<title>/&lt;x&gt;&amp;&quot;/</title>"), std::string::npos) << page;
  EXPECT_EQ(links_of(page), "\"../\">../ \"./%3Cscript%3E%22%27%26\">&lt;script&gt;&quot;'&amp; \"./a%0Ab%7F\">a?b? \"./http%3Aa\">http:a "
                            "\"./%C3%A4%20%25%3F%23\">\xc3\xa4 %?# ");
}

}  // namespace
}  // namespace web
