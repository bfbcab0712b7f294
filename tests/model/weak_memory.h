// The atomics of a model test, as the C++20 memory model has them: every atomic is a list of messages in modification order,
// every thread has a view of how much of each list it must have seen, and a load may return any message that its view allows.
// docs/design/model-checking.md says which behaviors this shows and which not.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "nondeterminism.h"
#include "view.h"

namespace tartan::model {

/// What a read-modify-write does to the value that it read.
enum class operation : std::uint8_t { exchange, add, subtract, bit_and, bit_or, bit_xor };

/// A value that ends a wait.
struct value_filter {
  virtual bool accepts(std::uint64_t value) const = 0;

 protected:
  ~value_filter() = default;
};

/// What one access did; `newest` is false for a load that missed a store which already exists.
struct access_result {
  std::uint64_t value = 0;
  thread_id writer = 0;
  bool newest = true;
  bool written = false;
};

/// The inputs that make an atomic.
struct location_traits {
  const void* address;
  unsigned bytes;
  bool is_pointer;
  const char* name;
};

/// What a thread has read.
struct seen_value {
  location_id location;
  std::uint64_t value;
};

/// All atomics and all threads' views of one execution.
class weak_memory {
 public:
  /// With `reorder_stores` a store may enter the modification order before stores that ran earlier, unless its thread had to
  /// know of them.
  weak_memory(nondeterminism& host, bool reorder_stores) : host_{&host}, reorder_stores_{reorder_stores} {}

  void reset();
  /// Gives `thread` what the main thread knows now.
  void spawn(thread_id thread);
  /// Gives the main thread what everybody knows.
  void join_all(unsigned thread_count);

  location_id add(thread_id creator, std::uint64_t value, const location_traits& traits);
  void rename(location_id location, const char* name) { locations_[location].name = name; }
  /// Faults unless every access so far happens before this.
  void retire(thread_id thread, location_id location);

  access_result load(thread_id thread, location_id location, std::memory_order order,
                     const value_filter* filter = nullptr);
  void store(thread_id thread, location_id location, std::uint64_t value, std::memory_order order);
  access_result modify(thread_id thread, location_id location, operation what, std::uint64_t operand,
                       std::memory_order order, bool newest_only = false);
  access_result compare_exchange(thread_id thread, location_id location, std::uint64_t expected, std::uint64_t desired,
                                 std::memory_order success, std::memory_order failure);
  void fence(thread_id thread, std::memory_order order);

  /// True if a load now could return a value that the filter accepts.
  [[nodiscard]] bool readable(thread_id thread, location_id location, std::memory_order order,
                              const value_filter& filter) const;
  /// True if `thread` could see another value than this one.
  [[nodiscard]] bool changed(thread_id thread, location_id location, std::uint64_t value) const {
    return next_change(thread, location, value) != none;
  }
  /// Stores become visible in finite time: `thread` now sees the first change, if there is one.
  void see_change(thread_id thread, location_id location, std::uint64_t value);
  /// Of the store that `thread` saw last.
  [[nodiscard]] std::uint64_t value_seen(thread_id thread, location_id location) const {
    return locations_[location].messages[threads_[thread].current.seen[location]].value;
  }
  [[nodiscard]] std::uint64_t newest(location_id location) const;
  [[nodiscard]] bool sees_newest(thread_id thread, location_id location) const;

  [[nodiscard]] const vector_clock& clock(thread_id thread) const { return threads_[thread].current.clock; }
  /// What no thread that still runs can tell apart any more; `running` has a bit for each of them.
  [[nodiscard]] horizon common_past(unsigned thread_count, std::uint32_t running) const;
  [[nodiscard]] std::uint64_t digest(unsigned thread_count, const horizon& past) const;

  [[nodiscard]] const char* name(location_id location) const;
  [[nodiscard]] std::string value_text(location_id location, std::uint64_t value) const;
  [[nodiscard]] location_id count() const { return count_; }
  [[nodiscard]] const void* address(location_id location) const { return locations_[location].address; }
  [[nodiscard]] bool alive(location_id location) const { return locations_[location].alive; }

 private:
  struct message {
    std::uint64_t value;
    view released;       // what a thread learns that acquires this message
    std::uint16_t rank;  // place in modification order
    thread_id writer;
    bool from_rmw;  // nothing may come between it and the message before
  };
  struct atomic_record {
    std::vector<message> messages;     // by number, message 0 is the initial value
    std::vector<std::uint16_t> order;  // numbers in modification order
    std::uint64_t key;  // the same in every execution that makes this atomic at the same point of its thread
    const void* address;
    const char* name;
    std::array<std::uint16_t, max_threads> accessed;  // each thread's latest step here
    std::uint16_t created;
    thread_id creator;
    unsigned bytes;
    bool is_pointer;
    bool alive;
  };
  struct knowledge {
    view current;     // what loads must respect
    view acquirable;  // what an acquire fence would add: all that was read, relaxed or not
    view released;    // what relaxed stores carry since the last release fence
    std::uint16_t locations_made;
  };

  void touch(thread_id thread, location_id location);
  [[nodiscard]] std::uint16_t lowest(thread_id thread, location_id location, std::memory_order order) const;
  [[nodiscard]] bool can_follow(const atomic_record& place, std::uint16_t rank) const;
  void join_seen(view& into, const view& from) const;
  void join(view& into, const view& from) const;
  std::uint16_t pick();
  [[nodiscard]] std::uint16_t next_change(thread_id thread, location_id location, std::uint64_t value) const;
  static constexpr std::uint16_t none = 0xffff;
  access_result read(thread_id thread, location_id location, std::uint16_t number, std::memory_order order);
  void write(thread_id thread, location_id location, std::uint64_t value, std::memory_order order, std::uint16_t rank,
             const message* read_from);
  void saw_in_total_order(location_id location, std::uint16_t number);
  [[nodiscard]] std::uint64_t digest(const view& known, const horizon& past) const;
  [[nodiscard]] std::uint64_t digest(const atomic_record& place, std::uint16_t oldest, const horizon& past) const;

  nondeterminism* host_;
  mutable std::string label_;  // of the unnamed one that was asked for last
  bool reorder_stores_;
  location_id count_ = 0;
  std::vector<atomic_record> locations_;  // those beyond count_ keep their memory for the next execution
  std::array<knowledge, max_threads> threads_{};
  view total_order_{};  // what the sequentially consistent operations and fences so far have made known
  std::vector<std::uint16_t> candidates_;
};

}  // namespace tartan::model
