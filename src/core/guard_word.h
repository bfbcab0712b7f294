#pragma once
/// When the worker that stands by looks for itself, unless those who run push that ahead; docs/design/idle-set.md.

#include <cstdint>

namespace tartan::detail {

/// The time for which the alarm of who stands by is set, as far as others may rely on it.
///
/// Cost: to set it takes a system call, 4 us in a virtual machine; if it goes off, 38 us. Hence seldom, and far ahead.
template <class Memory>
class guard_word {
 public:
  /// So long at most nobody looks at what is ready (a static_assert in lifecycle_standby.cpp says why so long).
  static constexpr std::uint64_t far_ns = 600'000;
  /// Who has more left than that does not set it.
  static constexpr std::uint64_t near_ns = 250'000;
  /// And who could set it for less than that later.
  static constexpr std::uint64_t least_ns = 200'000;

  /// Whether somebody stands by. A hint: who begins to has set its own alarm.
  [[nodiscard]] bool is_on() const noexcept { return at_.load(std::memory_order_relaxed) != off; }

  /// By who is about to stand by, before it says that it sleeps.
  template <class Set>
  void begin(std::uint64_t now_ns, Set set) noexcept {
    set(now_ns + far_ns);
    at_.store(now_ns + far_ns, std::memory_order_release);  // pairs with push() and still_ahead()
  }
  /// By the same, awake again.
  void end() noexcept { at_.store(off, std::memory_order_relaxed); }

  /// By who is awake and has just looked at what is ready: it may be busy from here on. `oldest_ns`: since when something may have waited at it.
  /// Leaves the alarm where it is if that has waited for so long that it should go off.
  template <class Set>
  void push(std::uint64_t now_ns, std::uint64_t oldest_ns, Set set) noexcept {
    std::uint64_t seen = at_.load(std::memory_order_acquire);  // pairs with who has set it
    const std::uint64_t at = oldest_ns + far_ns;
    if (seen == off || seen > now_ns + near_ns || at < seen + least_ns || at <= now_ns) return;
    set(at);  // relied-on: before the word says so
    // Refused: who stood by has got up.
    static_cast<void>(at_.compare_exchange_strong(seen, at, std::memory_order_release, std::memory_order_relaxed));
  }

  /// By who stands by, when its alarm has gone off: 0 if its time has come, else for when it is to be set again, for what has gone off was
  /// set for an earlier time by who was slow.
  [[nodiscard]] std::uint64_t still_ahead(std::uint64_t now_ns) const noexcept {
    const std::uint64_t at = at_.load(std::memory_order_acquire);  // pairs with push()
    return at > now_ns ? at : 0;
  }

 private:
  static constexpr std::uint64_t off = 0;

  typename Memory::template atomic<std::uint64_t> at_{off, "guard"};
};

}  // namespace tartan::detail
