// Random operations, against a std::string and a list of positions that do the same the simple way.
#include <tartan/buf/chain.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/seed.h"

namespace tartan::buf {
namespace {

class both {
 public:
  explicit both(std::uint64_t seed) : random_{seed} {}

  void step() {
    switch (below(12)) {
      case 0:
      case 1: return append_copy();
      case 2: return append_slice();
      case 3: return print();
      case 4: return fill_in_place();
      case 5:
      case 6: return drop();
      case 7: return take();
      case 8: return take_slice();
      case 9: return mark();
      case 10: return append_chain();
      default: return lines();
    }
  }

  void compare() {
    ASSERT_EQ(chain_.size(), text_.size());
    ASSERT_EQ(chain_.to_string(), text_);
    for (const slice& each : chain_.slices()) ASSERT_FALSE(each.empty());
    for (const auto& [taken, expected] : kept_) ASSERT_EQ(taken.text(), expected) << "a slice that was taken has changed";
    const std::size_t from = below(text_.size() + 2);
    const std::string wanted = some_text(1 + below(3));
    const std::size_t found = text_.find(wanted, from);
    ASSERT_EQ(chain_.find(wanted, from), found == std::string::npos ? std::nullopt : std::optional{found});
  }

 private:
  std::size_t below(std::size_t limit) { return std::uniform_int_distribution<std::size_t>{0, limit - 1}(random_); }
  std::size_t size() { return below(20) == 0 ? below(9000) : below(40); }
  std::size_t present() { return below(3) == 0 ? text_.size() : below(std::min<std::size_t>(text_.size(), 200) + 1); }
  std::string some_text(std::size_t length) {
    std::string made(length, ' ');
    for (char& each : made) each = "abcdefgh\r\n"[below(10)];
    return made;
  }

  void append_copy() {
    const std::string text = some_text(size());
    chain_.append(text);
    text_ += text;
  }
  void append_slice() {
    std::string text = some_text(size());
    if (!kept_.empty() && below(2) == 0) {  // one that lies in the chain's own memory
      chain_.append(kept_.front().first);
      text_ += kept_.front().second;
    } else {
      text_ += text;
      chain_.append(slice{std::move(text)});
    }
  }
  void print() {
    const std::int64_t number = static_cast<std::int64_t>(random_());
    chain_.print("number ", number, ';');
    text_ += "number " + std::to_string(number) + ';';
  }
  void fill_in_place() {
    const std::size_t least = size();
    const std::span<std::byte> room = chain_.prepare(least);
    ASSERT_GE(room.size(), least);
    const std::string text = some_text(below(least + 1));
    if (!text.empty()) std::memcpy(room.data(), text.data(), text.size());
    chain_.commit(text.size());
    text_ += text;
  }
  void has_left(std::size_t bytes) {
    text_.erase(0, bytes);
    left_ += bytes;
    std::vector<int> expected;
    while (!marks_.empty() && marks_.front().first <= left_) {
      expected.push_back(marks_.front().second);
      marks_.pop_front();
    }
    EXPECT_EQ(called_, expected);
    called_.clear();
  }
  void drop() {
    const std::size_t bytes = present();
    chain_.drop(bytes);
    has_left(bytes);
  }
  void take() {
    const std::size_t bytes = present();
    chain taken = chain_.take(bytes);
    EXPECT_EQ(taken.to_string(), text_.substr(0, bytes));
    if (bytes != 0) {
      taken.drop(bytes);
      has_left(bytes);
    }
  }
  void take_slice() {
    const std::size_t bytes = present();
    kept_.emplace_back(chain_.take_slice(bytes), text_.substr(0, bytes));
    if (kept_.size() > 10) kept_.erase(kept_.begin() + static_cast<std::ptrdiff_t>(below(10)));
    has_left(bytes);
  }
  void mark() {
    const int n = next_mark_++;
    chain_.mark([this, n] { called_.push_back(n); });
    marks_.emplace_back(left_ + text_.size(), n);
  }
  void append_chain() {
    chain other;
    const std::string text = some_text(1 + size());
    other.append(text);
    const int n = next_mark_++;
    other.mark([this, n] { called_.push_back(n); });
    other.append(slice::of_static("static"));
    other.drop(std::min<std::size_t>(text.size() / 2, 3));
    text_ += text.substr(std::min<std::size_t>(text.size() / 2, 3));
    marks_.emplace_back(left_ + text_.size(), n);
    text_ += "static";
    chain_.append(std::move(other));
  }
  void lines() {
    const std::size_t most = size() + 1;
    const std::size_t end = text_.find('\n');
    const std::optional<line> found = chain_.find_line(most);
    ASSERT_EQ(found.has_value(), end != std::string::npos && end < most);
    if (!found) return;
    EXPECT_EQ(found->whole, end + 1);
    EXPECT_EQ(found->length, end != 0 && text_[end - 1] == '\r' ? end - 1 : end);
    const std::string expected = text_.substr(0, found->length);
    EXPECT_EQ(chain_.take_line(most), expected);
    has_left(end + 1);
  }

  std::mt19937_64 random_;
  chain chain_;
  std::string text_;
  std::uint64_t left_ = 0;
  std::deque<std::pair<std::uint64_t, int>> marks_;
  std::vector<std::pair<slice, std::string>> kept_;
  std::vector<int> called_;
  int next_mark_ = 0;
};

TEST(chain_random, does_what_a_string_does) {
  const std::uint64_t seed = test::seed();
  for (std::uint64_t round = 0; round < 40; ++round) {
    both tested{seed + round};
    for (int n = 0; n < 400; ++n) {
      tested.step();
      tested.compare();
      if (HasFailure()) FAIL() << "seed " << seed << ", round " << round << ", step " << n;
    }
  }
}

}  // namespace
}  // namespace tartan::buf
