#pragma once
/// The color queues of the default scheduler: their memory, and the way from a color to its queue.

#include <cstddef>
#include <cstdint>
#include <new>

#include "core/line_pool.h"
#include "core/memory.h"
#include "core/sched/color_table.h"
#include "core/sched/home.h"
#include "core/spin_lock.h"
#include "core/strand_color.h"
#include "core/worker.h"

namespace tartan::detail {

class sleep_control;
class runtime_state;

using color_queue = color_queue_of<real_memory, event>;
using home = home_of<real_memory, event>;
static_assert(sizeof(color_queue) == 64);

[[nodiscard]] inline color_queue& queue_of(strand_state& s) noexcept { return reinterpret_cast<color_queue&>(s); }

/// Makes, finds and frees color queues, and chooses the owner of a new one. It posts nothing and wakes nobody.
///
/// Threads: any, unless a member says otherwise. `from` is the calling worker, null on a foreign thread.
class queue_store {
 public:
  using table_type = color_table<real_memory, color_queue>;
  using bucket_hold = table_type::hold;

  explicit queue_store(runtime_state& rt);
  queue_store(const queue_store&) = delete;
  queue_store& operator=(const queue_store&) = delete;
  /// Ends the program if a strand outlives its runtime.
  ~queue_store();

  /// Color 0's.
  [[nodiscard]] color_queue& default_color() noexcept { return *default_color_; }

  // A strand's color: bit 63 | generation | the runtime's mark | number of the color queue's line.
  static constexpr std::uint64_t strand_bit = strand_color::bit;
  [[nodiscard]] static constexpr std::uint64_t generation_of(color strands) noexcept {
    return (strands.value() >> line_bits) & generation_mask;
  }
  /// Of a strand of this runtime, which may be gone; null for a strand of another one: with the wrong mark the number
  /// is too large.
  [[nodiscard]] color_queue* queue_of_strand(color strands) const noexcept {
    return static_cast<color_queue*>(lines_.line_of((strands.value() ^ mark_) & line_mask));
  }

  /// The calling thread's free lines for color queues; null if it cannot have any.
  [[nodiscard]] line_cache* lines_of(worker* from) noexcept;
  /// Fills free lines, from the pool or with memory from the system. If there is no memory, it is missed only if it
  /// is needed.
  void reserve(line_cache& lines) noexcept {
    try {
      lines_.reserve(lines);
    } catch (const std::bad_alloc&) {
    }
  }

  [[nodiscard]] table_type& table() noexcept { return table_; }
  /// In the bucket of that color. A new queue belongs to the worker that its first event, `e`, suggests.
  [[nodiscard]] color_queue& find_or_make(bucket_hold& bucket, color where, const event& e, worker* from,
                                          bool& crowded) noexcept;
  /// A queue of one event's own, which is ordered with nothing.
  [[nodiscard]] color_queue& make_unordered(const event& e, worker* from) noexcept;
  /// Errors: std::bad_alloc.
  [[nodiscard]] strand_state* open_strand(worker* from, bool named);
  void free(color_queue& q, worker* from) noexcept;

  /// Destroys the events of all color queues, and frees the queues that nobody needs then; adds the events that a drain
  /// counts. False: there was no event.
  ///
  /// Threads: no worker runs.
  bool drop_events(std::size_t& counted) noexcept;

 private:
  static constexpr unsigned line_bits = strand_color::upper_shift;
  static constexpr std::uint64_t line_mask = (std::uint64_t{1} << line_bits) - 1;
  static constexpr std::uint64_t generation_mask = inbox<real_memory, event>::last_generation;

  void forget_other_lines() noexcept;
  [[nodiscard]] color_queue& make(queue_kind kind, std::uint64_t value, worker* from);
  [[nodiscard]] color_queue& make_for(queue_kind kind, color where, const event& e, worker* from) noexcept;
  [[nodiscard]] unsigned owner_for(std::uint64_t value, const worker* from) noexcept;
  [[nodiscard]] strand_state* make_strand(worker* from, bool named);
  [[nodiscard]] queue_kind kind_of(const color_queue& q) noexcept;

  runtime_state& rt_;
  sleep_control& life_;
  const unsigned workers_;
  const std::uint64_t mark_;  ///< of this runtime's strands
  /// Guards the kinds once the runtime is over: foreign threads open strands while drop_events looks at each queue.
  spin_lock late_lock_;
  line_pool lines_;
  table_type table_;
  color_queue* default_color_ = nullptr;
};

}  // namespace tartan::detail
