#include "core/sched/papers/color_frequencies.h"

#include <tartan/core/color.h>
#include <utility>

namespace tartan::detail {

namespace {

constexpr std::size_t first_slots = 64;
constexpr unsigned count_bits = 48;

}  // namespace

color_frequencies::color_frequencies() : table_(first_slots) {
  for (color_group& each : groups_of_color_0_) keep(each);
}
color_frequencies::~color_frequencies() = default;

void color_frequencies::append(task& t) {
  waiting_color* const known = find(t.color_value);  // none of color::unordered
  waiting_color& c = known != nullptr ? *known : enter(t.color_value);
  t.next = nullptr;
  t.among = &c;
  if (c.tail != nullptr) {
    c.tail->next = &t;
  } else {
    c.head = &t;
  }
  c.tail = &t;
  ++c.count;
  regroup(c);
}

void color_frequencies::remove(task& t) noexcept {
  waiting_color& c = *t.among;
  c.head = t.next;
  --c.count;
  if (c.head != nullptr) return regroup(c);
  ungroup(c);
  leave(c);
}

/// Contract 8: a color has the priority of its first task, and no other task of it is ever chosen.
std::uint64_t color_frequencies::rank_of(const waiting_color& c) noexcept {
  return std::uint64_t{c.head->priority} << count_bits | c.count;
}

/// Consecutive numbers, as strands have, fall into neighboring slots, and share cache lines. Multiples of powers of two are spread.
waiting_color*& color_frequencies::slot_of(std::uint64_t color_value) noexcept {
  const std::uint64_t mixed = color_value ^ color_value >> 10 ^ color_value >> 20 ^ color_value >> 32;
  return table_[mixed & (table_.size() - 1)];
}

waiting_color* color_frequencies::find(std::uint64_t color_value) noexcept {
  waiting_color* c = slot_of(color_value);
  while (c != nullptr && c->color_value != color_value) c = c->chained;
  return c;
}

/// A color that has no task yet, and is in no group. One of color::unordered is not in the table, either.
waiting_color& color_frequencies::enter(std::uint64_t color_value) {
  waiting_color& c = color_value == 0 ? color_0_ : spare_color();
  c = {.color_value = color_value};
  ++colors_;
  if (color_value != color::unordered.value()) c.chained = std::exchange(slot_of(color_value), &c);
  return c;
}

waiting_color& color_frequencies::spare_color() {
  if (colors_ >= table_.size()) grow();
  if (spare_colors_ == nullptr) {
    slab& made = *slabs_.emplace_back(std::make_unique<slab>());
    for (auto each = made.colors.rbegin(); each != made.colors.rend(); ++each) each->chained = std::exchange(spare_colors_, &*each);
    for (color_group& each : made.groups) keep(each);
  }
  return *std::exchange(spare_colors_, spare_colors_->chained);
}

void color_frequencies::leave(waiting_color& c) noexcept {
  if (c.color_value != color::unordered.value()) {
    waiting_color** link = &slot_of(c.color_value);
    while (*link != &c) link = &(*link)->chained;
    *link = c.chained;
  }
  --colors_;
  if (&c != &color_0_) c.chained = std::exchange(spare_colors_, &c);
}

void color_frequencies::grow() {
  std::vector<waiting_color*> before(2 * table_.size());
  before.swap(table_);
  for (waiting_color* c : before) {
    while (c != nullptr) {
      waiting_color& moved = *std::exchange(c, c->chained);
      moved.chained = std::exchange(slot_of(moved.color_value), &moved);
    }
  }
}

/// To the end of the group that its rank asks for.
void color_frequencies::regroup(waiting_color& c) noexcept {
  color_group& now = group_of(rank_of(c), c.group);
  if (&now == c.group) return;
  if (c.group != nullptr) ungroup(c);
  c.group = &now;
  now.colors.push_back(c);
}

void color_frequencies::ungroup(waiting_color& c) noexcept {
  color_group& before = *std::exchange(c.group, nullptr);
  before.colors.remove(c);
  if (before.colors.front() != nullptr) return;
  groups_.remove(before);
  keep(before);
}

/// Looks for it from `near` on; null: from the lowest on.
color_group& color_frequencies::group_of(std::uint64_t rank, color_group* near) noexcept {
  color_group* above = near != nullptr ? near : groups_.front();
  while (above != nullptr && above->rank < rank) above = above->next;
  while (above != nullptr && above->previous != nullptr && above->previous->rank >= rank) above = above->previous;
  if (above != nullptr && above->rank == rank) return *above;
  color_group& made = *std::exchange(spare_groups_, spare_groups_->next);
  made.rank = rank;
  groups_.insert(made, above);
  return made;
}

void color_frequencies::keep(color_group& g) noexcept { g.next = std::exchange(spare_groups_, &g); }

}  // namespace tartan::detail
