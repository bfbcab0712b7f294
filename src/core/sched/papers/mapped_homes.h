#pragma once
/// The queues of all workers, each under a lock of its own, and the map that says whose a class of colors is.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "core/memory.h"

namespace tartan::detail {

/// Base of the homes of per_worker and of color_queues.
///
/// Home: has `lock`, and what others read as hints: `size`, its tasks; `longest`, how many there were at most; and `offers`, whether a thief
/// may find something.
/// Owner: a number that fits all workers. Source: libasync-smp, section 3; Mely, IV.A.
template <class Memory, class Home, class Owner, std::uint32_t Classes>
class mapped_homes {
 public:
  static constexpr std::uint32_t class_count = Classes;

  explicit mapped_homes(unsigned workers) : homes_{std::make_unique<Home[]>(workers)} {
    for (std::uint32_t n = 0; n < Classes; ++n) map_[n].store(static_cast<Owner>(n % workers), std::memory_order_relaxed);
  }

  [[nodiscard]] unsigned owner_of(std::uint32_t number) const noexcept {
    return map_[number].load(std::memory_order_acquire);  // pairs with move
  }
  [[nodiscard]] Home& at(unsigned worker) noexcept { return homes_[worker]; }
  [[nodiscard]] const Home& at(unsigned worker) const noexcept { return homes_[worker]; }

  /// Tasks of a worker; a hint.
  [[nodiscard]] std::size_t size(unsigned worker) const noexcept { return homes_[worker].size.load(std::memory_order_relaxed); }
  /// The same for who looks after a barrier, or while nobody runs.
  [[nodiscard]] std::size_t size_seen(unsigned worker) const noexcept {
    return homes_[worker].size.load(std::memory_order_acquire);  // pairs with add_to_size
  }
  /// Asked without the lock: thieves that lock their victims in vain keep them from their work.
  [[nodiscard]] bool may_be_worth_a_visit(unsigned victim) const noexcept { return homes_[victim].offers.load(std::memory_order_relaxed); }

  /// Whether thieves go by what a steal costs: then each is timed, and learned from.
  [[nodiscard]] static constexpr bool goes_by_price() noexcept { return false; }
  static void learn_price(std::uint64_t /*took_ns*/) noexcept {}

 protected:
  /// Gives whose it is, with the lock held: nobody else gets it then. away-and-back: and what was done to it before has been seen.
  [[nodiscard]] Home& lock_owner_of(std::uint32_t number) noexcept {
    for (;;) {
      const unsigned owner = owner_of(number);
      Home& found = homes_[owner];
      found.lock.lock();
      // Acquire here too: the class may have been away and back since, and then this lock does not order what was done to it elsewhere.
      if (owner_of(number) == owner) return found;
      found.lock.unlock();
    }
  }
  [[nodiscard]] unsigned number_of(const Home& of) const noexcept { return static_cast<unsigned>(&of - homes_.get()); }

  /// With the lock held of whose it was.
  void move(std::uint32_t number, unsigned to) noexcept {
    map_[number].store(static_cast<Owner>(to), std::memory_order_release);  // pairs with owner_of
  }

  // With the home's lock held.
  static void add_to_size(Home& own, std::size_t tasks) noexcept {
    const std::size_t now = own.size.load(std::memory_order_relaxed) + tasks;
    own.size.store(now, std::memory_order_release);  // pairs with size_seen
    if (now > own.longest) own.longest = now;
  }
  static void take_from_size(Home& own, std::size_t tasks) noexcept {
    own.size.store(own.size.load(std::memory_order_relaxed) - tasks, std::memory_order_relaxed);
  }
  /// Thieves ask for it all the time: so it has a cache line of its own, and is written only when it changes.
  static void offer(Home& own, bool some) noexcept {
    if (own.offers.load(std::memory_order_relaxed) != some) own.offers.store(some, std::memory_order_relaxed);
  }

 private:
  std::unique_ptr<Home[]> homes_;
  std::array<typename Memory::template atomic<Owner>, Classes> map_{};
};

}  // namespace tartan::detail
