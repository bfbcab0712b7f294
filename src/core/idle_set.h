#pragma once
/// Who sleeps, who searches, and who is to be woken. See docs/design/idle-set.md.
///
/// A wake-up costs the waker 2 to 13 us, so one per post is out of the question; a lost one costs everything. Hence: a poster only
/// reads one word that hardly ever changes; while a worker searches on account of a wake-up nobody wakes another, and it wakes the next.

#include <cstdint>
#include <memory>

#include "core/memory.h"

namespace tartan::detail {

/// The idle set's word, taken apart.
struct idle_view {
  std::uint64_t word;

  static constexpr std::uint64_t one_sleeping = 1;
  static constexpr std::uint64_t watching_bit = std::uint64_t{1} << 16;
  static constexpr std::uint64_t paused_bit = std::uint64_t{1} << 17;
  static constexpr std::uint64_t forked_bit = std::uint64_t{1} << 18;
  static constexpr std::uint64_t one_searching = std::uint64_t{1} << 24;
  /// Counts every end of a rest, so that "all sleep, as they did before" cannot be mistaken. On top: it may wrap around.
  static constexpr std::uint64_t one_end = std::uint64_t{1} << 40;

  [[nodiscard]] unsigned sleeping() const noexcept { return static_cast<unsigned>(word & 0xffff); }
  /// At most the true number, never more: a waker counts the search of whom it wakes after it has claimed him, and by then
  /// that search may be over. So the field can be -1 for a moment; flags lie below it, and what lies above only counts ends.
  [[nodiscard]] int searching_or_owed() const noexcept { return static_cast<std::int16_t>((word >> 24) & 0xffff); }
  [[nodiscard]] unsigned searching() const noexcept {
    const int counted = searching_or_owed();
    return counted > 0 ? static_cast<unsigned>(counted) : 0;
  }
  [[nodiscard]] bool watching() const noexcept { return (word & watching_bit) != 0; }
  [[nodiscard]] bool paused() const noexcept { return (word & paused_bit) != 0; }
  [[nodiscard]] bool forked() const noexcept { return (word & forked_bit) != 0; }
  /// There is a watcher, and the runtime runs.
  [[nodiscard]] bool is_watched() const noexcept { return (word & (watching_bit | paused_bit | forked_bit)) == watching_bit; }
  /// Nothing for a poster to do: nobody sleeps, and the runtime runs.
  [[nodiscard]] bool quiet() const noexcept { return (word & (0xffff | paused_bit | forked_bit)) == 0; }
};

/// Counts and tokens of all workers.
template <class Memory>
class idle_set {
 public:
  using token = typename Memory::template atomic<std::uint32_t>;
  /// woken: to look for work that another sleeper could as well find; summoned: it must be this one.
  enum : std::uint32_t { awake = 0, asleep = 1, woken = 2, summoned = 3 };
  static constexpr unsigned nobody = ~0u;

  explicit idle_set(unsigned workers) : workers_{workers}, sleepers_{std::make_unique<sleeper[]>(workers)} {}

  [[nodiscard]] unsigned workers() const noexcept { return workers_; }
  [[nodiscard]] token& token_of(unsigned worker) noexcept { return sleepers_[worker].state; }

  /// For foreign threads, after publishing, and for who posts in nobody's name.
  /// Cost: a full fence, so that a worker that is alone awake need not have the kernel run one in them.
  [[nodiscard]] idle_view view_after_publish() const noexcept {
    Memory::full_barrier();  // covered: pairs with the barriers of rest and end_search
    return view();
  }
  /// The same for a worker of this runtime that is awake: if it is the only one, who could go to rest is the caller.
  [[nodiscard]] idle_view view_by_worker() const noexcept {
    if (workers_ != 1) [[likely]] Memory::light_barrier();  // covered: pairs with the heavy barriers of rest and end_search
    return view();
  }
  [[nodiscard]] idle_view view() const noexcept { return {word_.load(std::memory_order_relaxed)}; }
  /// The last value: a plain load may give an older one, whatever time has passed. Cost: a read-modify-write.
  [[nodiscard]] idle_view latest_view() noexcept { return {word_.fetch_add(0, std::memory_order_acq_rel)}; }
  /// For who concludes from it that all sleep: before and after a look at all sources, and both must be the same.
  [[nodiscard]] idle_view view_and_fence() const noexcept {
    const idle_view seen{word_.load(std::memory_order_acquire)};
    // covered: pairs with the posters' barriers; heavy also for those of the posting gates, and for an operation that ends without any
    Memory::heavy_barrier();
    return seen;
  }
  [[nodiscard]] idle_view fence_and_view() const noexcept {
    Memory::heavy_barrier();  // who took something that the look has missed had ended its rest before, and is seen to have
    return view();
  }

  /// running -> searching.
  void search() noexcept { word_.fetch_add(idle_view::one_searching, std::memory_order_acq_rel); }

  /// searching -> running. If it gives true, this was the last searcher, every source is to be looked at again (a barrier
  /// has been passed), and another worker woken if there is more. While nobody sleeps there is nobody to wake: whoever goes to rest later
  /// looks at every source itself (covered).
  [[nodiscard]] bool end_search() noexcept {
    const idle_view before{word_.fetch_sub(idle_view::one_searching, std::memory_order_acq_rel)};
    if (before.searching_or_owed() > 1 || before.sleeping() == 0) return false;
    pass_barrier(before.sleeping() + 1 == workers_);  // covered: pairs with the barriers of posters that left their work to a searcher
    return true;
  }

  /// searching -> asleep. After it, every source is to be looked at before sleeping (a barrier has been passed).
  ///
  /// Cost: two read-modify-writes (of one worker, one) and a full fence; instead of that a heavy barrier, and so a system call, while another
  /// worker is awake.
  void rest(unsigned worker) noexcept {
    word_.fetch_add(idle_view::one_sleeping - idle_view::one_searching, std::memory_order_acq_rel);
    // release: what this worker did; pairs with the acquire of a claim
    sleepers_[worker].state.store(asleep, std::memory_order_release);
    // Read once more by a read-modify-write, now that the token is there: who wakes, or pauses, later than that sees it.
    pass_barrier(workers_ == 1 || latest_view().sleeping() == workers_);  // covered: pairs with the barriers of posters that saw nobody asleep
  }

  /// asleep -> searching, by the worker itself: woken, or found something, or its time is up. Its own step in any case, so that it
  /// is never counted as sleeping while it runs. Gives whether it was claimed.
  bool cancel(unsigned worker) noexcept {
    // acquire: pairs with the claim; release: pairs with a claim of the next rest
    const bool claimed = sleepers_[worker].state.exchange(awake, std::memory_order_acq_rel) != asleep;
    // The waker counts the search of whom it wakes.
    const std::uint64_t search = claimed ? 0 : idle_view::one_searching;
    word_.fetch_add(idle_view::one_end - idle_view::one_sleeping + search, std::memory_order_acq_rel);
    return claimed;
  }

  /// By a worker that is awake, and that was reached by a call that may have been meant for any sleeper. `stands_in`: it is counted as
  /// searching, will look at every source before it rests, and was not claimed itself; then it takes the place of one that was woken
  /// and has not noticed, which sleeps on. Gives somebody who is still to be called, or nobody (called-until-come).
  [[nodiscard]] unsigned answer_call(unsigned worker, bool stands_in) noexcept {
    unsigned left = nobody;
    for (unsigned n = 0; n < workers_; ++n) {
      if (n == worker || !is_claimed(n)) continue;
      if (stands_in && stand_in(n)) {
        stands_in = false;
      } else if (is_claimed(n)) {
        left = n;
      }
    }
    return left;
  }
  /// Whether somebody has claimed this worker, which has not noticed yet.
  [[nodiscard]] bool is_claimed(unsigned worker) const noexcept {
    const std::uint32_t now = sleepers_[worker].state.load(std::memory_order_acquire);
    return now == woken || now == summoned;
  }

  /// Whether this worker sleeps, for a poster after publishing.
  [[nodiscard]] bool is_asleep(unsigned worker) const noexcept {
    return sleepers_[worker].state.load(std::memory_order_acquire) == asleep;
  }

  /// Claims this worker, which will be searching; it or who stands in for it. Gives whether the caller must end its sleep.
  [[nodiscard]] bool claim(unsigned worker) noexcept {
    std::uint32_t expected = asleep;
    return claim_as(woken, worker, expected);
  }

  /// The same for what only this worker can do: nobody stands in for it (come-yourself). If it was woken already, whoever did that
  /// calls it: then the caller need not.
  [[nodiscard]] bool summon(unsigned worker) noexcept {
    std::uint32_t seen = sleepers_[worker].state.load(std::memory_order_relaxed);
    for (;;) {
      if (seen == asleep) {
        if (claim_as(summoned, worker, seen)) return true;
      } else if (seen == woken) {
        // come-yourself: acq_rel, as a claim; the search is counted already
        if (sleepers_[worker].state.compare_exchange_strong(seen, summoned, std::memory_order_acq_rel, std::memory_order_relaxed)) {
          return false;
        }
      } else {
        return false;  // awake: it looks before it sleeps; summoned: it comes
      }
    }
  }

  /// Claims some sleeping worker unless somebody searches already. Gives its number, or nobody.
  [[nodiscard]] unsigned claim_any() noexcept {
    const idle_view seen = view();
    if (seen.sleeping() == 0 || seen.searching() != 0 || seen.paused()) return nobody;
    for (unsigned n = 0; n < workers_; ++n) {
      if (sleepers_[n].state.load(std::memory_order_relaxed) == asleep && claim(n)) return n;
    }
    return nobody;  // who is counted but has no token yet looks after it has; who was claimed by others looks when it wakes
  }

  /// Whether this worker sleeps, for who has set paused: then whoever wakes it later has seen what the caller did before.
  [[nodiscard]] bool confirm_asleep(unsigned worker) noexcept {
    std::uint32_t expected = asleep;
    // acq_rel: acquire pairs with rest; release pairs with the claim that comes after
    return sleepers_[worker].state.compare_exchange_strong(expected, asleep, std::memory_order_acq_rel, std::memory_order_relaxed);
  }

  /// Becomes the watcher, unless there is one. Threads: a worker that goes to rest with work declined.
  [[nodiscard]] bool start_watch() noexcept {
    return !idle_view{word_.fetch_or(idle_view::watching_bit, std::memory_order_acq_rel)}.watching();
  }
  void end_watch() noexcept { word_.fetch_and(~idle_view::watching_bit, std::memory_order_acq_rel); }

  /// No worker is woken any more until resume(). Who does not look asleep to the caller after it sees paused after its rest().
  ///
  /// Threads: worker 0, which is awake. Needs no barrier: another worker that rests changes the word after its token, so before this or after it.
  void pause() noexcept { word_.fetch_or(idle_view::paused_bit, std::memory_order_acq_rel); }
  void resume() noexcept { word_.fetch_and(~idle_view::paused_bit, std::memory_order_acq_rel); }
  void mark_forked() noexcept { word_.fetch_or(idle_view::forked_bit, std::memory_order_acq_rel); }

  /// When a sleeper will wake by itself.
  void set_wake_at(unsigned worker, std::uint64_t at_ns) noexcept {
    sleepers_[worker].wake_at.store(at_ns, std::memory_order_release);
  }
  /// The earliest of those that sleep, but `except`.
  [[nodiscard]] std::uint64_t earliest_wake(unsigned except) const noexcept {
    std::uint64_t earliest = ~std::uint64_t{0};
    for (unsigned n = 0; n < workers_; ++n) {
      if (n == except || sleepers_[n].state.load(std::memory_order_acquire) != asleep) continue;
      const std::uint64_t at = sleepers_[n].wake_at.load(std::memory_order_acquire);
      if (at < earliest) earliest = at;
    }
    return earliest;
  }

 private:
  /// `alone`: as a read-modify-write of the word has given, all other workers sleep. What they did before is seen, and what they do later is done
  /// by who has seen this one's step (alone-awake); so only foreign threads are left, which pass a fence themselves.
  static void pass_barrier(bool alone) noexcept {
    if (alone) {
      Memory::full_barrier();
    } else {
      Memory::heavy_barrier();
    }
  }

  [[nodiscard]] bool claim_as(std::uint32_t how, unsigned worker, std::uint32_t& expected) noexcept {
    // acquire: pairs with rest; release: pairs with cancel
    if (!sleepers_[worker].state.compare_exchange_strong(expected, how, std::memory_order_acq_rel, std::memory_order_relaxed)) {
      return false;
    }
    word_.fetch_add(idle_view::one_searching, std::memory_order_acq_rel);  // one-waker: others leave their work to it
    return true;
  }

  [[nodiscard]] bool stand_in(unsigned worker) noexcept {
    std::uint32_t expected = woken;
    // acq_rel: as the claim that it undoes
    if (!sleepers_[worker].state.compare_exchange_strong(expected, asleep, std::memory_order_acq_rel, std::memory_order_relaxed)) {
      return false;
    }
    word_.fetch_sub(idle_view::one_searching, std::memory_order_acq_rel);
    return true;
  }

  struct alignas(64) sleeper {
    /// Release when it is stored as asleep, or claimed: what its writer did before; pairs with the acquire of who claims, or wakes up.
    token state{awake, "token"};
    /// Release by its worker; pairs with earliest_wake().
    typename Memory::template atomic<std::uint64_t> wake_at{~std::uint64_t{0}, "wake_at"};
  };

  unsigned workers_;
  std::unique_ptr<sleeper[]> sleepers_;
  /// Changed by acq_rel read-modify-writes only: each pairs with all earlier ones.
  alignas(64) typename Memory::template atomic<std::uint64_t> word_{0, "idle word"};
};

}  // namespace tartan::detail
