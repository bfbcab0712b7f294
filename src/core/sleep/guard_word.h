#pragma once
/// When the guard looks for itself, unless those who run put that off; docs/design/sleeping.md.

#include <cstdint>

#include "core/memory.h"

namespace tartan::detail {

/// The time for which the guard's alarm is set, as far as others may rely on it.
///
/// Cost: to set it takes a system call, 4 us in a virtual machine; if it goes off, 27 us. Hence seldom, and far ahead.
template <class Memory>
class guard_word {
 public:
  /// `far_ns`: so long at most nobody looks at what is ready.
  explicit guard_word(std::uint64_t far_ns) noexcept : far_ns_{far_ns} {}

  [[nodiscard]] std::uint64_t far_ns() const noexcept { return far_ns_; }
  /// A worker that has more left than that does not set it.
  [[nodiscard]] std::uint64_t near_ns() const noexcept { return far_ns_ / 12 * 5; }
  /// Nor one that could set it for less than that later.
  [[nodiscard]] std::uint64_t least_ns() const noexcept { return far_ns_ / 3; }

  /// Whether there is a guard. A hint: who becomes one has set its own alarm.
  [[nodiscard]] bool is_on() const noexcept { return at_.load(std::memory_order_relaxed) != off; }
  /// Since when: older times that others have noted say nothing.
  [[nodiscard]] std::uint64_t begun_ns() const noexcept { return begun_ns_.load(std::memory_order_relaxed); }

  /// By the new guard, before it says that it sleeps.
  template <class Set>
  void begin(std::uint64_t now_ns, Set set) noexcept {
    set(now_ns + far_ns_);
    begun_ns_.store(now_ns, std::memory_order_relaxed);
    at_.store(now_ns + far_ns_, std::memory_order_release);  // pairs with push() and still_ahead()
  }
  /// By the same, awake again.
  void end() noexcept { at_.store(off, std::memory_order_relaxed); }

  /// By a worker that is awake and has just looked at what is ready: it may be busy from here on. Asks `due` for when the guard is needed at the
  /// latest, if the alarm is near; leaves the alarm where it is if that is sooner, or hardly later. An alarm that has gone off is set in any case.
  template <class Due, class Set>
  void push(std::uint64_t now_ns, Due due, Set set) noexcept {
    std::uint64_t seen = at_.load(std::memory_order_acquire);  // pairs with who has set it
    if (seen == off || seen > now_ns + near_ns()) return;
    std::uint64_t at = due();
    if (seen > now_ns) {
      if (at < seen + least_ns()) return;
    } else if (at <= now_ns) {
      at = now_ns;  // gone-off: while all slept, and the guard sleeps on, whatever is due
    }
    set(at);  // relied-on: before the word says so
    // Refused: the guard has got up, or another one has set it.
    static_cast<void>(at_.compare_exchange_strong(seen, at, std::memory_order_release, std::memory_order_relaxed));
  }

  /// By the guard, when its alarm has gone off: 0 if its time has come, else for when it is to be set again, for what has gone off was
  /// set for an earlier time by a worker that was slow.
  [[nodiscard]] std::uint64_t still_ahead(std::uint64_t now_ns) const noexcept {
    const std::uint64_t at = at_.load(std::memory_order_acquire);  // pairs with push()
    return at > now_ns ? at : 0;
  }
  /// By the guard, its time having come: sleeps on until then, for those who run have noted that they looked. `set` as in push().
  template <class Set>
  void put_off(std::uint64_t at_ns, Set set) noexcept {
    set(at_ns);
    at_.store(at_ns, std::memory_order_release);
  }

 private:
  static constexpr std::uint64_t off = 0;

  const std::uint64_t far_ns_;
  /// Release by the thread that has set the alarm; pairs with each acquire load.
  typename Memory::template atomic<std::uint64_t> at_{off, "guard"};
  typename Memory::template atomic<std::uint64_t> begun_ns_{0, "guard begun"};
};

}  // namespace tartan::detail
