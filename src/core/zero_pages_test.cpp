#include "core/zero_pages.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tartan::detail {
namespace {

const auto page_bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
constexpr std::size_t pages = 1024;

/// Of `pages` pages, those that anybody has touched.
std::size_t touched(void* first) {
  std::vector<unsigned char> resident(pages);
  EXPECT_EQ(::mincore(first, pages * page_bytes, resident.data()), 0);
  return static_cast<std::size_t>(std::count_if(resident.begin(), resident.end(), [](unsigned char r) { return (r & 1) != 0; }));
}

TEST(zero_pages, are_zero_and_touched_by_nobody) {
  for (int round = 0; round < 3; ++round) {  // also where others were
    void* const first = map_zero_pages(pages * page_bytes);
    ASSERT_NE(first, nullptr);
    EXPECT_EQ(touched(first), 0u);
    auto* const bytes = static_cast<unsigned char*>(first);
    for (std::size_t n = 0; n < pages * page_bytes; ++n) ASSERT_EQ(bytes[n], 0u);
    std::fill_n(bytes, pages * page_bytes, static_cast<unsigned char>(1));
    unmap_zero_pages(first, pages * page_bytes);
  }
}

TEST(zero_pages, that_there_is_no_memory_for_are_null) {
  EXPECT_EQ(map_zero_pages(SIZE_MAX / 2), nullptr);
  unmap_zero_pages(nullptr, SIZE_MAX / 2);
}

}  // namespace
}  // namespace tartan::detail
