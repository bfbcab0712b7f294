#include "weak_memory.h"

#include <algorithm>
#include <cstdio>

#include "hashing.h"

namespace tartan::model {

namespace {

bool acquires(std::memory_order order) {
  return order != std::memory_order_relaxed && order != std::memory_order_release;
}

bool releases(std::memory_order order) {
  return order == std::memory_order_release || order == std::memory_order_acq_rel || order == std::memory_order_seq_cst;
}

std::uint64_t apply(operation what, std::uint64_t value, std::uint64_t operand, unsigned bytes) {
  switch (what) {
    case operation::exchange:
      value = operand;
      break;
    case operation::add:
      value += operand;
      break;
    case operation::subtract:
      value -= operand;
      break;
    case operation::bit_and:
      value &= operand;
      break;
    case operation::bit_or:
      value |= operand;
      break;
    case operation::bit_xor:
      value ^= operand;
      break;
  }
  return bytes >= 8 ? value : value & ((std::uint64_t{1} << (bytes * 8)) - 1);
}

}  // namespace

void weak_memory::reset() {
  count_ = 0;
  threads_ = {};
  total_order_ = {};
  threads_[main_thread].current.clock.steps[main_thread] = 1;
}

void weak_memory::spawn(thread_id thread) {
  threads_[thread].current = threads_[main_thread].current;
  threads_[thread].acquirable = threads_[main_thread].current;
  threads_[thread].current.clock.steps[thread] = 1;
}

void weak_memory::join_all(unsigned thread_count) {
  for (unsigned thread = 1; thread < thread_count; ++thread) {
    join(threads_[main_thread].current, threads_[thread].current);
  }
}

location_id weak_memory::add(thread_id creator, std::uint64_t value, const location_traits& traits) {
  if (count_ == max_locations) {
    host_->fail("more than " + std::to_string(max_locations) + " atomics in one execution");
  }
  if (locations_.size() == count_) {
    locations_.emplace_back();
  }
  atomic_record& place = locations_[count_];
  knowledge& self = threads_[creator];
  place.messages.assign(1, message{value, view{}, 0, creator, false});
  place.order.assign(1, 0);
  place.key = mix(creator, self.locations_made++);
  place.address = traits.address;
  place.name = traits.name;
  place.accessed = {};
  place.created = self.current.clock.steps[creator];
  place.creator = creator;
  place.bytes = traits.bytes;
  place.is_pointer = traits.is_pointer;
  place.alive = true;
  return count_++;
}

void weak_memory::retire(thread_id thread, location_id location) {
  touch(thread, location);
  atomic_record& place = locations_[location];
  for (thread_id other = 0; other < max_threads; ++other) {
    if (!clock(thread).covers(other, place.accessed[other])) {
      host_->fail(std::string{"use after free: "} + name(location) +
                  " is destroyed, but nothing orders the last use by thread " + std::to_string(other) + " before that");
    }
  }
  place.alive = false;
}

void weak_memory::touch(thread_id thread, location_id location) {
  atomic_record& place = locations_[location];
  if (!place.alive) {
    host_->fail(std::string{"use after free: "} + name(location) + " was destroyed before");
  }
  if (!clock(thread).covers(place.creator, place.created)) {
    host_->fail(std::string{"race with construction: nothing orders the making of "} + name(location) +
                " before this use");
  }
  place.accessed[thread] = clock(thread).steps[thread];
}

// The oldest message, as a rank, that the thread may still read or overwrite.
std::uint16_t weak_memory::lowest(thread_id thread, location_id location, std::memory_order order) const {
  const auto& messages = locations_[location].messages;
  const std::uint16_t seen = messages[threads_[thread].current.seen[location]].rank;
  if (order != std::memory_order_seq_cst) {
    return seen;
  }
  return std::max(seen, messages[total_order_.seen[location]].rank);
}

// Whether a new message may directly follow the one at `rank`: not between a read-modify-write and what it read.
bool weak_memory::can_follow(const atomic_record& place, std::uint16_t rank) const {
  const std::size_t next = std::size_t{rank} + 1;
  return next == place.order.size() || (reorder_stores_ && !place.messages[place.order[next]].from_rmw);
}

void weak_memory::join_seen(view& into, const view& from) const {
  for (location_id index = 0; index < count_; ++index) {
    const std::uint16_t mine = into.seen[index];
    const std::uint16_t theirs = from.seen[index];
    if (mine != theirs && locations_[index].messages[theirs].rank > locations_[index].messages[mine].rank) {
      into.seen[index] = theirs;
    }
  }
}

void weak_memory::join(view& into, const view& from) const {
  join_seen(into, from);
  into.clock.join(from.clock);
}

std::uint16_t weak_memory::pick() {
  return candidates_[candidates_.size() == 1 ? 0 : host_->choose(static_cast<unsigned>(candidates_.size()))];
}

void weak_memory::saw_in_total_order(location_id location, std::uint16_t number) {
  const auto& messages = locations_[location].messages;
  if (messages[number].rank > messages[total_order_.seen[location]].rank) {
    total_order_.seen[location] = number;
  }
}

access_result weak_memory::read(thread_id thread, location_id location, std::uint16_t number, std::memory_order order) {
  const atomic_record& place = locations_[location];
  const message& from = place.messages[number];
  knowledge& self = threads_[thread];
  self.current.seen[location] = number;
  join(self.acquirable, from.released);
  if (acquires(order)) {
    join(self.current, from.released);
  }
  if (order == std::memory_order_seq_cst) {
    saw_in_total_order(location, number);
  }
  return {from.value, from.writer, std::size_t{from.rank} + 1 == place.order.size(), false};
}

void weak_memory::write(thread_id thread, location_id location, std::uint64_t value, std::memory_order order,
                        std::uint16_t rank, const message* read_from) {
  atomic_record& place = locations_[location];
  knowledge& self = threads_[thread];
  const auto number = static_cast<std::uint16_t>(place.messages.size());
  message added{value, releases(order) ? self.current : self.released, rank, thread, read_from != nullptr};
  if (read_from != nullptr) {
    join(added.released, read_from->released);  // a read-modify-write goes on with the release sequence
  }
  added.released.seen[location] = number;
  place.order.insert(place.order.begin() + rank, number);
  place.messages.push_back(added);
  for (std::size_t later = std::size_t{rank} + 1; later < place.order.size(); ++later) {
    place.messages[place.order[later]].rank = static_cast<std::uint16_t>(later);
  }
  self.current.seen[location] = number;
  ++self.current.clock.steps[thread];  // what follows is not part of what this message carries
  if (order == std::memory_order_seq_cst) {
    saw_in_total_order(location, number);
  }
}

access_result weak_memory::load(thread_id thread, location_id location, std::memory_order order,
                                const value_filter* filter) {
  if (order == std::memory_order_release || order == std::memory_order_acq_rel) {
    host_->fail(std::string{"a load of "} + name(location) + " cannot release");
  }
  touch(thread, location);
  const atomic_record& place = locations_[location];
  candidates_.clear();
  const std::uint16_t low =
      thread == main_thread ? static_cast<std::uint16_t>(place.order.size() - 1) : lowest(thread, location, order);
  for (std::size_t rank = place.order.size(); rank-- > low;) {
    const std::uint16_t number = place.order[rank];
    if (filter == nullptr || filter->accepts(place.messages[number].value)) {
      candidates_.push_back(number);
    }
  }
  return read(thread, location, pick(), order);
}

void weak_memory::store(thread_id thread, location_id location, std::uint64_t value, std::memory_order order) {
  if (order == std::memory_order_acquire || order == std::memory_order_acq_rel || order == std::memory_order_consume) {
    host_->fail(std::string{"a store to "} + name(location) + " cannot acquire");
  }
  touch(thread, location);
  const atomic_record& place = locations_[location];
  candidates_.clear();
  const std::uint16_t low =
      thread == main_thread ? static_cast<std::uint16_t>(place.order.size() - 1) : lowest(thread, location, order);
  for (std::size_t rank = place.order.size(); rank-- > low;) {
    if (can_follow(place, static_cast<std::uint16_t>(rank))) {
      candidates_.push_back(static_cast<std::uint16_t>(rank + 1));
    }
  }
  write(thread, location, value, order, pick(), nullptr);
}

access_result weak_memory::modify(thread_id thread, location_id location, operation what, std::uint64_t operand,
                                  std::memory_order order, bool newest_only) {
  touch(thread, location);
  const atomic_record& place = locations_[location];
  candidates_.clear();
  const bool last_only = newest_only || thread == main_thread;
  const std::uint16_t low =
      last_only ? static_cast<std::uint16_t>(place.order.size() - 1) : lowest(thread, location, order);
  for (std::size_t rank = place.order.size(); rank-- > low;) {
    if (can_follow(place, static_cast<std::uint16_t>(rank))) {
      candidates_.push_back(place.order[rank]);
    }
  }
  const std::uint16_t number = pick();
  access_result result = read(thread, location, number, order);
  const message from = place.messages[number];  // a copy: write() may move the list
  write(thread, location, apply(what, from.value, operand, place.bytes), order,
        static_cast<std::uint16_t>(from.rank + 1), &from);
  result.written = true;
  return result;
}

access_result weak_memory::compare_exchange(thread_id thread, location_id location, std::uint64_t expected,
                                            std::uint64_t desired, std::memory_order success,
                                            std::memory_order failure) {
  if (failure == std::memory_order_release || failure == std::memory_order_acq_rel) {
    host_->fail(std::string{"a failed compare-exchange of "} + name(location) + " is a load and cannot release");
  }
  touch(thread, location);
  const atomic_record& place = locations_[location];
  candidates_.clear();
  const auto last = static_cast<std::uint16_t>(place.order.size() - 1);
  const std::uint16_t low_success = thread == main_thread ? last : lowest(thread, location, success);
  const std::uint16_t low_failure = thread == main_thread ? last : lowest(thread, location, failure);
  for (std::size_t rank = place.order.size(); rank-- > std::min(low_success, low_failure);) {
    const std::uint16_t number = place.order[rank];
    const bool equal = place.messages[number].value == expected;
    if (equal ? rank >= low_success && can_follow(place, static_cast<std::uint16_t>(rank)) : rank >= low_failure) {
      candidates_.push_back(number);
    }
  }
  const std::uint16_t number = pick();
  const bool equal = place.messages[number].value == expected;
  access_result result = read(thread, location, number, equal ? success : failure);
  if (equal) {
    const message from = place.messages[number];
    write(thread, location, desired, success, static_cast<std::uint16_t>(from.rank + 1), &from);
    result.written = true;
  }
  return result;
}

void weak_memory::fence(thread_id thread, std::memory_order order) {
  knowledge& self = threads_[thread];
  if (acquires(order)) {
    join(self.current, self.acquirable);
  }
  if (order == std::memory_order_seq_cst) {
    // Only positions, no clocks: a fence alone orders nobody's plain accesses.
    join_seen(self.current, total_order_);
    join_seen(total_order_, self.current);
  }
  if (releases(order)) {
    self.released = self.current;
  }
  ++self.current.clock.steps[thread];
}

bool weak_memory::readable(thread_id thread, location_id location, std::memory_order order,
                           const value_filter& filter) const {
  const atomic_record& place = locations_[location];
  for (std::size_t rank = place.order.size(); rank-- > lowest(thread, location, order);) {
    if (filter.accepts(place.messages[place.order[rank]].value)) {
      return true;
    }
  }
  return false;
}

// The number of that message, or none.
std::uint16_t weak_memory::next_change(thread_id thread, location_id location, std::uint64_t value) const {
  const atomic_record& place = locations_[location];
  const message& seen = place.messages[threads_[thread].current.seen[location]];
  for (std::size_t rank = seen.rank; rank < place.order.size(); ++rank) {
    if (place.messages[place.order[rank]].value != value) {
      return place.order[rank];
    }
  }
  return none;
}

void weak_memory::see_change(thread_id thread, location_id location, std::uint64_t value) {
  if (const std::uint16_t number = next_change(thread, location, value); number != none) {
    threads_[thread].current.seen[location] = number;
  }
}

bool weak_memory::sees_newest(thread_id thread, location_id location) const {
  return threads_[thread].current.seen[location] == locations_[location].order.back();
}

std::uint64_t weak_memory::newest(location_id location) const {
  return locations_[location].messages[locations_[location].order.back()].value;
}

const char* weak_memory::name(location_id location) const {
  if (locations_[location].name != nullptr) {
    return locations_[location].name;
  }
  label_ = "atomic#" + std::to_string(location);
  return label_.c_str();
}

std::string weak_memory::value_text(location_id location, std::uint64_t value) const {
  if (!locations_[location].is_pointer && value < 1'000'000) {
    return std::to_string(value);
  }
  std::array<char, 24> text{};
  std::snprintf(text.data(), text.size(), "0x%llx", static_cast<unsigned long long>(value));
  return text.data();
}

}  // namespace tartan::model
