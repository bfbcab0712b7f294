#pragma once
/// How long things took.

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace load {

/// Times in nanoseconds, counted in buckets that become wider as times become longer: 128 for each power of two, so that what is read back is
/// less than 1 % beside what was put in. Exact below 256 ns; one that took longer than 78 hours counts as that.
///
/// Cost: to add is a shift and an increment; 40 KB.
/// Source: the idea is HdrHistogram's.
class histogram {
 public:
  void add(std::uint64_t ns) noexcept {
    if (ns > longest) ns = longest;
    ++counts_[bucket_of(ns)];
    ++count_;
    sum_ += ns;
    if (ns > max_) max_ = ns;
  }

  void add(const histogram& other) noexcept;

  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  [[nodiscard]] std::uint64_t max() const noexcept { return max_; }
  [[nodiscard]] double mean() const noexcept { return count_ == 0 ? 0 : static_cast<double>(sum_) / static_cast<double>(count_); }

  /// What this share of all, from 0 to 1, took at most: the middle of the bucket. 0 if there is nothing.
  [[nodiscard]] std::uint64_t quantile(double share) const noexcept;

  /// As text, for another process; reading gives nothing for what is no histogram.
  [[nodiscard]] std::string to_text() const;
  [[nodiscard]] static std::optional<histogram> parse(std::string_view text);

 private:
  static constexpr unsigned linear_bits = 7;  ///< of a bucket's number, below the power of two
  static constexpr unsigned most_bits = 48;
  static constexpr std::uint64_t longest = (std::uint64_t{1} << most_bits) - 1;
  static constexpr std::size_t buckets = (most_bits - linear_bits + 1) << linear_bits;

  /// The first 256 values are their own buckets; of others, the highest bit and the seven below it say which.
  static std::size_t bucket_of(std::uint64_t ns) noexcept {
    const auto width = static_cast<unsigned>(std::bit_width(ns));
    if (width <= linear_bits + 1) return static_cast<std::size_t>(ns);
    const unsigned shift = width - linear_bits - 1;
    return (static_cast<std::size_t>(shift) << linear_bits) + static_cast<std::size_t>(ns >> shift);
  }
  static std::uint64_t middle_of(std::size_t bucket) noexcept;

  std::array<std::uint64_t, buckets> counts_{};
  std::uint64_t count_ = 0;
  std::uint64_t sum_ = 0;
  std::uint64_t max_ = 0;
};

}  // namespace load
