#pragma once
/// Waiting tasks by color, and the colors by the number of their waiting tasks.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/memory.h"
#include "core/sched/papers/linked_list.h"
#include "core/sched/papers/task.h"

namespace tartan::detail {

struct color_group;

/// A color that has tasks. One cache line: with as many colors as tasks, each further line is a miss for each event.
struct alignas(64) waiting_color {
  waiting_color* next = nullptr;  ///< in its group
  waiting_color* previous = nullptr;
  waiting_color* chained = nullptr;  ///< the next one in the same slot of the table, or in the list of spare ones
  color_group* group = nullptr;
  std::uint64_t color_value = 0;
  task* head = nullptr;  ///< its tasks, linked by task::next
  task* tail = nullptr;
  std::uint64_t count = 0;
};

/// The colors of one rank, the one that has had it for the longest first.
struct color_group {
  color_group* next = nullptr;  ///< the next higher rank
  color_group* previous = nullptr;
  linked_list_of<real_memory, waiting_color> colors{};
  std::uint64_t rank = 0;
};

/// Ranks colors by the priority of their first task, and those of one priority by the number of their tasks.
///
/// The tasks of a color keep the order in which they were appended. Each task of color::unordered is a color of its own.
///
/// Not guarded: its owner has a lock. Limits: memory, which is kept for as many colors as have ever waited at once.
/// Cost: append and remove take constant time where all priorities are the same: a rank then changes by one, and the group of the next rank is a
/// neighbor. Otherwise they take a step for each rank that the color passes. The table doubles when it has as many colors as slots.
class color_frequencies {
 public:
  color_frequencies();
  color_frequencies(const color_frequencies&) = delete;
  color_frequencies& operator=(const color_frequencies&) = delete;
  ~color_frequencies();

  [[nodiscard]] bool empty() const noexcept { return colors_ == 0; }

  /// Errors: std::bad_alloc, but not for color 0; then nothing was appended.
  void append(task& t);
  /// `t` is the first task of its color.
  void remove(task& t) noexcept;

  /// The first task of each color, from the highest rank down, until `is_it` is true of one. Null: of none.
  template <class F>
  [[nodiscard]] task* first_that(F is_it) const {
    for (const color_group* g = groups_.back(); g != nullptr; g = g->previous) {
      for (const waiting_color* c = g->colors.front(); c != nullptr; c = c->next) {
        if (is_it(*c->head)) return c->head;
      }
    }
    return nullptr;
  }

 private:
  /// Colors that are new together lie together. Each brings the memory of a group, so that there are enough, and remove() never asks for memory.
  struct slab {
    std::array<waiting_color, 64> colors{};
    std::array<color_group, 64> groups{};
  };

  [[nodiscard]] static std::uint64_t rank_of(const waiting_color& c) noexcept;
  [[nodiscard]] waiting_color*& slot_of(std::uint64_t color_value) noexcept;
  [[nodiscard]] waiting_color* find(std::uint64_t color_value) noexcept;
  [[nodiscard]] waiting_color& enter(std::uint64_t color_value);
  [[nodiscard]] waiting_color& spare_color();
  void leave(waiting_color& c) noexcept;
  void grow();
  void regroup(waiting_color& c) noexcept;
  void ungroup(waiting_color& c) noexcept;
  [[nodiscard]] color_group& group_of(std::uint64_t rank, color_group* near) noexcept;
  void keep(color_group& g) noexcept;

  // On one line, as each post and each pick uses them.
  alignas(64) std::vector<waiting_color*> table_;  ///< chains of colors; a power of two of them
  std::size_t colors_ = 0;
  linked_list_of<real_memory, color_group> groups_;  ///< the lowest rank first
  waiting_color* spare_colors_ = nullptr;
  color_group* spare_groups_ = nullptr;

  waiting_color color_0_{};  ///< its own, so that the event that polls never needs memory
  std::vector<std::unique_ptr<slab>> slabs_;
  std::array<color_group, 2> groups_of_color_0_{};  ///< one more, as a color that moves enters its new group before it leaves the old one
};

}  // namespace tartan::detail
