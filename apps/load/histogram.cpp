#include "load/histogram.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <system_error>

namespace load {

void histogram::add(const histogram& other) noexcept {
  for (std::size_t n = 0; n < buckets; ++n) counts_[n] += other.counts_[n];
  count_ += other.count_;
  sum_ += other.sum_;
  max_ = std::max(max_, other.max_);
}

std::uint64_t histogram::middle_of(std::size_t bucket) noexcept {
  constexpr std::size_t exact = std::size_t{2} << linear_bits;
  if (bucket < exact) return bucket;
  const std::size_t shift = (bucket >> linear_bits) - 1;
  const std::uint64_t least = static_cast<std::uint64_t>(bucket - (shift << linear_bits)) << shift;
  return least + (std::uint64_t{1} << shift) / 2;
}

std::uint64_t histogram::quantile(double share) const noexcept {
  if (count_ == 0) return 0;
  const auto wanted = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::ceil(share * static_cast<double>(count_))));
  std::uint64_t passed = 0;
  for (std::size_t n = 0; n < buckets; ++n) {
    passed += counts_[n];
    if (passed >= wanted) return std::min(middle_of(n), max_);  // the middle may lie beyond the longest of all
  }
  return max_;
}

std::string histogram::to_text() const {
  std::string text = std::to_string(sum_) + ":" + std::to_string(max_);
  for (std::size_t n = 0; n < buckets; ++n) {
    if (counts_[n] != 0) text += " " + std::to_string(n) + ":" + std::to_string(counts_[n]);
  }
  return text;
}

namespace {

/// "12:34" at the front of a text, which is taken away.
bool take_pair(std::string_view& text, std::uint64_t& first, std::uint64_t& second) {
  const auto take = [&text](std::uint64_t& into) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), into);
    if (error != std::errc{}) return false;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return true;
  };
  if (!take(first) || !text.starts_with(':')) return false;
  text.remove_prefix(1);
  return take(second);
}

}  // namespace

std::optional<histogram> histogram::parse(std::string_view text) {
  std::optional<histogram> read{std::in_place};
  if (!take_pair(text, read->sum_, read->max_)) return std::nullopt;
  while (!text.empty()) {
    std::uint64_t bucket = 0;
    std::uint64_t times = 0;
    if (!text.starts_with(' ')) return std::nullopt;
    text.remove_prefix(1);
    if (!take_pair(text, bucket, times) || bucket >= buckets) return std::nullopt;
    read->counts_[bucket] += times;
    read->count_ += times;
  }
  return read;
}

}  // namespace load
