// The path of one execution through the tree of everything that could happen, walked depth first: each run follows the
// recorded choices and takes the first alternative from there on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tartan::model {

/// The choices of the running execution, and which of them the next one changes.
class decisions {
 public:
  /// Goes back to the root; what advance() or parse() left is followed again.
  void rewind() {
    at_ = 0;
    prefix_ = path_.size();
  }

  /// True while recorded choices are being followed: whatever is reached here was seen before.
  [[nodiscard]] bool replaying() const { return at_ < prefix_; }

  /// One of `count` alternatives; `count` itself if the recorded path does not fit, so the program is not deterministic.
  [[nodiscard]] unsigned choose(unsigned count) {
    if (at_ < path_.size()) {
      const choice& taken = path_[at_++];
      return taken.count == count || (taken.count == any_count && taken.taken < count) ? taken.taken : count;
    }
    path_.push_back({0, static_cast<std::uint16_t>(count)});
    ++at_;
    return 0;
  }

  /// Moves to the next unexplored path; false if there is none.
  [[nodiscard]] bool advance() {
    path_.resize(at_);
    while (!path_.empty() && path_.back().taken + 1 >= path_.back().count) {
      path_.pop_back();
    }
    if (path_.empty()) {
      return false;
    }
    ++path_.back().taken;
    return true;
  }

  /// The choices made so far, for a person to hand back to parse().
  [[nodiscard]] std::string text() const {
    std::string words;
    for (std::size_t index = 0; index < at_; ++index) {
      words += (index == 0 ? "" : ",") + std::to_string(path_[index].taken);
    }
    return words;
  }

  void parse(std::string_view words) {
    path_.clear();
    unsigned number = 0;
    for (std::size_t index = 0; index <= words.size() && !words.empty(); ++index) {
      if (index == words.size() || words[index] == ',') {
        path_.push_back({static_cast<std::uint16_t>(number), any_count});
        number = 0;
      } else if (words[index] >= '0' && words[index] <= '9') {
        number = number * 10 + static_cast<unsigned>(words[index] - '0');
      }
    }
  }

 private:
  static constexpr std::uint16_t any_count = 0xffff;
  struct choice {
    std::uint16_t taken;
    std::uint16_t count;
  };
  std::vector<choice> path_;
  std::size_t at_ = 0;
  std::size_t prefix_ = 0;
};

}  // namespace tartan::model
