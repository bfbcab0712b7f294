#pragma once
/// Whether all were served alike.

#include <cstdint>

namespace load {

/// Jain's index over how much each of many has got: 1 if all got the same, 1/n if one of n got everything; 0 if nobody got anything.
class fairness {
 public:
  void add(std::uint64_t got) noexcept {
    const auto share = static_cast<double>(got);
    ++count_;
    sum_ += share;
    squares_ += share * share;
  }
  void add(const fairness& others) noexcept {
    count_ += others.count_;
    sum_ += others.sum_;
    squares_ += others.squares_;
  }

  /// What is needed to make it elsewhere.
  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  [[nodiscard]] double sum() const noexcept { return sum_; }
  [[nodiscard]] double squares() const noexcept { return squares_; }
  [[nodiscard]] static fairness of(std::uint64_t count, double sum, double squares) noexcept {
    fairness made;
    made.count_ = count;
    made.sum_ = sum;
    made.squares_ = squares;
    return made;
  }

  [[nodiscard]] double jain() const noexcept { return squares_ == 0 ? 0 : sum_ * sum_ / (static_cast<double>(count_) * squares_); }

 private:
  std::uint64_t count_ = 0;
  double sum_ = 0;
  double squares_ = 0;
};

}  // namespace load
