#pragma once
// Cache lines that can be walked in an order that nobody can foresee, or one after the other.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

namespace simulation {

class chase {
 public:
  static constexpr std::size_t line_bytes = 64;

  explicit chase(std::size_t lines) : lines_(lines) {
    std::vector<std::size_t> order(lines);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::shuffle(order.begin(), order.end(), std::mt19937_64{1});
    for (std::size_t n = 0; n < lines; ++n) {
      lines_[order[n]].next = &lines_[order[(n + 1) % lines]];
      in_no_order_.push_back(&lines_[order[n]]);
    }
    at_ = lines_.data();
  }

  [[nodiscard]] std::size_t lines() const { return lines_.size(); }

  /// Each load waits for the one before.
  void walk(std::size_t steps) {
    line* at = at_;
    for (std::size_t n = 0; n < steps; ++n) at = at->next;
    asm volatile("" : "+r"(at));
    at_ = at;
  }
  void read_in_order() {
    std::uint64_t sum = 0;
    for (const line& each : lines_) sum += each.value.load(std::memory_order_relaxed);
    asm volatile("" : "+r"(sum));
  }
  void write_all() {
    for (line* each : in_no_order_) each->value.store(1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_seq_cst);
  }

 private:
  struct alignas(line_bytes) line {
    line* next = nullptr;
    std::atomic<std::uint64_t> value{0};
  };
  std::vector<line> lines_;
  std::vector<line*> in_no_order_;
  line* at_ = nullptr;
};

}  // namespace simulation
