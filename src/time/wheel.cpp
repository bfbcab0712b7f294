// A heap costs a million timers twenty levels of cache misses for each set and cancel. A wheel costs one append, but a wheel with
// a slot per tick would need a slot for every tick of the longest timer. Hence levels, as the hands of a clock: slots of one tick,
// of 64 ticks, of 64 * 64, and so on; when time reaches a slot of a higher level, its nodes are spread over the level below, so
// that a node moves at most once per level.
//
// The naive way spreads a slot in one go when its time has come. Measured: a million timers 60 to 120 s ahead meet in two slots,
// and everything else that is due then waits 100 ms. So each level has the slots of two rounds, the one under way and the next: what
// is set for the next slot of the level above goes to the level below at once, and what was there before is spread bit by bit
// during the slot before it.
#include "time/wheel.h"

#include <algorithm>
#include <bit>

namespace tartan::detail {

std::uint64_t wheel::insert(timer_node& node, std::uint64_t now_tick) noexcept {
  // Once in a while: in a wheel that is far behind, all nodes would meet in one slot of a high level.
  if (number(current_, 1) != number(now_tick, 1)) catch_up(now_tick);
  node.deadline_ns = std::max(node.deadline_ns, current_ << tick_bits);
  place(node);
  node.links.armed = true;
  ++size_;
  if (node.links.level == 0 || size_ <= few_) return fire_ns(node.deadline_ns);
  return look_tick(node.links.level, number(node.deadline_ns >> tick_bits, node.links.level)) << tick_bits;
}

void wheel::remove(timer_node& node) noexcept {
  unlink(node);
  node.links.armed = false;
  --size_;
}

bool wheel::take_before(std::uint64_t cut_tick, unsigned limit, due_list& due) noexcept {
  while (limit > 0) {
    if (spreading_ != 0) {
      spread(spreading_, number(current_, spreading_), limit);
      if (limit > 0) spreading_ = 0;
      continue;
    }
    unsigned level = 0;
    std::uint64_t slot = 0;
    const bool any = first(level, slot);
    const std::uint64_t begin_tick = slot << (level * level_bits);
    if (!any || (level == 0 ? begin_tick >= cut_tick : begin_tick > cut_tick)) {
      current_ = std::max(current_, cut_tick);
      return false;
    }
    current_ = begin_tick;
    if (level == 0) {
      drain(slot, limit, due);
    } else {
      spreading_ = level;
    }
  }
  return true;
}

bool wheel::spread_ahead(unsigned limit) noexcept {
  if (size_ <= few_) return false;
  for (unsigned level = 1; level < levels && limit > 0; ++level) spread(level, number(current_, level) + 1, limit);
  return limit == 0;
}

timer_node* wheel::take_any() noexcept {
  for (level_slots& level : levels_) {
    for (unsigned round = 0; round < 2; ++round) {
      if (level.occupied[round] == 0) continue;
      const auto in_round = static_cast<unsigned>(std::countr_zero(level.occupied[round]));
      timer_node* const node = level.lists[round * per_round + in_round].head;
      remove(*node);
      return node;
    }
  }
  return nullptr;
}

std::uint64_t wheel::next_ns() const noexcept {
  std::uint64_t earliest = never;
  for (unsigned level = 0; level < levels; ++level) {
    std::uint64_t slot = 0;
    if (!first_in(level, slot)) continue;
    if (level != 0 && size_ <= few_) {
      // no wake-up but for what is due: a lone timer of an hour costs one
      for (const timer_node* node = list(level, slot).head; node != nullptr; node = node->links.next) {
        earliest = std::min(earliest, fire_ns(node->deadline_ns));
      }
    } else {
      earliest = std::min(earliest, (level == 0 ? slot + 1 : look_tick(level, slot)) << tick_bits);
    }
  }
  return earliest;
}

/// The first occupied slot of a level.
bool wheel::first_in(unsigned level, std::uint64_t& slot) const noexcept {
  const level_slots& in = levels_[level];
  const std::uint64_t now = number(current_, level);
  const std::uint64_t round = now / per_round;
  const unsigned passed = static_cast<unsigned>(now % per_round);
  if (const std::uint64_t later = in.occupied[round % 2] >> passed; later != 0) {
    slot = now + static_cast<unsigned>(std::countr_zero(later));
    return true;
  }
  if (const std::uint64_t next = in.occupied[(round + 1) % 2]; next != 0) {
    slot = (round + 1) * per_round + static_cast<unsigned>(std::countr_zero(next));
    return true;
  }
  return false;
}

/// The one of all levels that begins first; of those that begin together the highest, which has to be spread first.
bool wheel::first(unsigned& level, std::uint64_t& slot) const noexcept {
  std::uint64_t earliest = never;
  for (unsigned candidate = levels; candidate-- > 0;) {
    std::uint64_t number_there = 0;
    if (!first_in(candidate, number_there)) continue;
    const std::uint64_t begin_tick = number_there << (candidate * level_bits);
    if (begin_tick >= earliest) continue;
    earliest = begin_tick;
    level = candidate;
    slot = number_there;
  }
  return earliest != never;
}

/// When a slot of a higher level may be spread: in the slot before it, and if that has begun, with the next tick.
std::uint64_t wheel::look_tick(unsigned level, std::uint64_t slot) const noexcept {
  return std::max((slot - 1) << (level * level_bits), current_ + 1);
}

void wheel::catch_up(std::uint64_t now_tick) noexcept {
  if (spreading_ != 0 || now_tick < current_) return;
  unsigned level = 0;
  std::uint64_t slot = 0;
  if (!first(level, slot) || slot << (level * level_bits) > now_tick) current_ = now_tick;
}

void wheel::place(timer_node& node) noexcept {
  const std::uint64_t tick = node.deadline_ns >> tick_bits;
  unsigned level = 0;
  while (number(tick, level + 1) - number(current_, level + 1) > 1) ++level;
  const std::uint64_t slot = number(tick, level) % slots;
  slot_list& in = list(level, slot);
  node.links.level = static_cast<std::uint8_t>(level);
  node.links.slot = static_cast<std::uint8_t>(slot);
  node.links.next = nullptr;
  node.links.previous = in.tail;
  (in.tail == nullptr ? in.head : in.tail->links.next) = &node;
  in.tail = &node;
  levels_[level].occupied[slot / per_round] |= std::uint64_t{1} << slot % per_round;
}

void wheel::unlink(timer_node& node) noexcept {
  const unsigned level = node.links.level;
  const unsigned slot = node.links.slot;
  slot_list& in = list(level, slot);
  (node.links.previous == nullptr ? in.head : node.links.previous->links.next) = node.links.next;
  (node.links.next == nullptr ? in.tail : node.links.next->links.previous) = node.links.previous;
  if (in.head == nullptr) levels_[level].occupied[slot / per_round] &= ~(std::uint64_t{1} << slot % per_round);
}

/// Moves nodes of a slot at current_, or of the one after it, to lower levels. Leaves a limit if the slot is empty then.
void wheel::spread(unsigned level, std::uint64_t slot, unsigned& limit) noexcept {
  const slot_list& from = list(level, slot);
  for (; limit > 0 && from.head != nullptr; --limit) {
    timer_node& node = *from.head;
    unlink(node);
    place(node);
  }
}

void wheel::drain(std::uint64_t slot, unsigned& limit, due_list& due) noexcept {
  const slot_list& from = list(0, slot);
  for (; limit > 0 && from.head != nullptr; --limit) {
    timer_node& node = *from.head;
    remove(node);
    due.push_back(node);
  }
}

}  // namespace tartan::detail
