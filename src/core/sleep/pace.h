#pragma once
/// What a worker's turns take.

#include <cstddef>
#include <cstdint>

namespace tartan::detail {

/// The usual time of a turn, by clocks read before and after several. It falls at once and rises by a sixteenth: a time in which the
/// thread was preempted says nothing. And since when what waits has waited, at most: for that, looks at the line are counted in tours, each of
/// which ends when as many turns were made as waited when it began.
///
/// Threads: one.
class pace {
 public:
  /// From here on the worker is awake.
  void begin(std::uint64_t now_ns, std::uint64_t turns) noexcept {
    since_ns_ = now_ns;
    turns_ = turns;
  }

  /// Nothing is known of what came before.
  void forget() noexcept { since_ns_ = 0; }

  /// It was awake since begin(), or the last note(); if neither came, this is the beginning.
  void note(std::uint64_t now_ns, std::uint64_t turns) noexcept {
    if (since_ns_ == 0) begin(now_ns, turns);
    if (turns == turns_) return;
    const std::uint64_t each_ns = (now_ns - since_ns_) / (turns - turns_);
    begin(now_ns, turns);
    turn_ns_ = turn_ns_ == 0 || each_ns < turn_ns_ ? each_ns : turn_ns_ + (each_ns - turn_ns_) / 16;
  }

  /// The worker has just woken up: nothing has waited longer.
  void begin_tour(std::uint64_t now_ns, std::uint64_t turns) noexcept { tour_ = {now_ns, now_ns, turns, 0}; }
  /// It has looked, and so many colors wait.
  void look(std::uint64_t now_ns, std::uint64_t turns, std::size_t waiting) noexcept {
    if (turns - tour_.turns >= tour_.waiting) tour_ = {tour_.begun_ns, now_ns, turns, waiting};
  }
  /// Nothing that waits came before.
  [[nodiscard]] std::uint64_t oldest_ns() const noexcept { return tour_.last_begun_ns; }

  /// 0: not known yet.
  [[nodiscard]] std::uint64_t turn_ns() const noexcept { return turn_ns_; }

 private:
  std::uint64_t since_ns_ = 0;
  std::uint64_t turns_ = 0;
  std::uint64_t turn_ns_ = 0;
  struct {
    std::uint64_t last_begun_ns = 0;  ///< the tour before
    std::uint64_t begun_ns = 0;
    std::uint64_t turns = 0;
    std::size_t waiting = 0;
  } tour_;
};

}  // namespace tartan::detail
