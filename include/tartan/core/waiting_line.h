#pragma once
/// Coroutines that wait in an object, first come, first served. Library code.

#include <cstddef>
#include <cstdint>
#include <tartan/core/chain.h>

namespace tartan::detail {

/// A lock for a few dozen instructions. Meets the standard's BasicLockable.
class brief_lock {
 public:
  brief_lock() noexcept;
  brief_lock(const brief_lock&) = delete;
  brief_lock& operator=(const brief_lock&) = delete;
  void lock() noexcept;
  void unlock() noexcept;

 private:
  std::byte held_[1];  ///< a spin_lock
};

class holding {
 public:
  explicit holding(brief_lock& lock) noexcept : lock_{lock} { lock_.lock(); }
  holding(const holding&) = delete;
  holding& operator=(const holding&) = delete;
  ~holding() { lock_.unlock(); }

 private:
  brief_lock& lock_;
};

class waiting_line;

/// One coroutine's place in a line. What the operation needs besides is its own, under the line's lock.
class waiter : public operation {
 public:
  waiter() noexcept;
  waiter(waiter&& other) noexcept;  ///< before it waits
  waiter& operator=(waiter&&) = delete;

  /// Leaves the line, if nobody took it out before.
  bool cancel() noexcept final { return leave(); }

 protected:
  ~waiter();

 private:
  friend class waiting_line;
  [[nodiscard]] bool leave() noexcept;
  [[nodiscard]] bool claim(std::uint8_t to) noexcept;
  [[nodiscard]] bool admit() noexcept;

  waiting_line* line_ = nullptr;  ///< written by who has claimed it, under the line's lock
  waiter* previous_ = nullptr;
  waiter* next_ = nullptr;
  chain* who_ = nullptr;
  std::byte state_[1];            ///< an atomic: by who ends the wait
  std::uint8_t entered_ = 0;      ///< which gate of its runtime who took it out is in until it is completed
};

/// Lifetime: must be empty when it ends, but for coroutines that their runtime has not resumed any more; else the program ends.
class waiting_line {
 public:
  waiting_line(brief_lock& lock, const char* what) noexcept : lock_{&lock}, what_{what} {}
  waiting_line(const waiting_line&) = delete;
  waiting_line& operator=(const waiting_line&) = delete;
  ~waiting_line();

  // Under the lock.

  void join(waiter& last, chain& who) noexcept;

  /// Takes the first one out whose wait has not been canceled, and whose runtime goes on; null: there is none. Its operation is to
  /// be ended under the lock, and then completed without. Until then its runtime does not end.
  [[nodiscard]] waiter* take_first() noexcept;

  /// Puts one that was taken out in front of others that were, to be completed together; gives the new chain.
  [[nodiscard]] static waiter* in_front(waiter& taken, waiter* of) noexcept {
    taken.next_ = of;
    return &taken;
  }

  /// A chain the other way around, and then others.
  [[nodiscard]] static waiter* turned_around(waiter* first, waiter* others) noexcept {
    while (first != nullptr) {
      waiter* const next = first->next_;
      others = in_front(*first, others);
      first = next;
    }
    return others;
  }

  /// Without the lock: the wait is over, the waiter may be gone when this returns.
  static void complete(waiter& taken) noexcept;

  /// The same for a chain of them. Whatever they waited in may be gone as soon as the first one is completed.
  static void complete_all(waiter* first) noexcept {
    while (first != nullptr) {
      waiter* const one = first;
      first = one->next_;
      complete(*one);
    }
  }

 private:
  friend class waiter;
  void unlink(waiter& one) noexcept;
  void let_go(waiter& one) noexcept;

  brief_lock* lock_;
  const char* what_;
  waiter* first_ = nullptr;
  waiter* last_ = nullptr;
};

}  // namespace tartan::detail
