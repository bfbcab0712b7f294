#pragma once
/// Who sleeps, who searches, and who is to be woken. See docs/design/sleeping.md.
///
/// A wake-up costs the waker 2 to 13 us, so one per post is out of the question; a lost one costs everything. Hence: a poster only
/// reads one word that hardly ever changes; while a worker searches on account of a wake-up nobody wakes another, and it wakes the next ones.

#include <cstdint>
#include <memory>

#include "core/memory.h"

namespace tartan::detail {

/// The idle set's word, taken apart.
struct idle_view {
  std::uint64_t word;

  static constexpr unsigned most_workers = 1024;
  static constexpr std::uint64_t count_mask = 0x7ff;
  static constexpr unsigned awake_shift = 11;
  static constexpr unsigned searching_shift = 28;
  static constexpr std::uint64_t one_sleeping = 1;
  static constexpr std::uint64_t one_awake = std::uint64_t{1} << awake_shift;
  static constexpr std::uint64_t watching_bit = std::uint64_t{1} << 22;
  static constexpr std::uint64_t polling_bit = std::uint64_t{1} << 23;
  static constexpr std::uint64_t paused_bit = std::uint64_t{1} << 24;
  static constexpr std::uint64_t forked_bit = std::uint64_t{1} << 25;
  static constexpr std::uint64_t left_bit = std::uint64_t{1} << 26;
  static constexpr std::uint64_t one_searching = std::uint64_t{1} << searching_shift;
  /// Counts every end of a rest, so that "all sleep, as they did before" cannot be mistaken. On top: it may wrap around.
  static constexpr std::uint64_t one_end = std::uint64_t{1} << 40;

  [[nodiscard]] unsigned sleeping() const noexcept { return static_cast<unsigned>(word & count_mask); }
  /// Workers that are there and do not sleep. One that has retired is neither.
  [[nodiscard]] unsigned awake() const noexcept { return static_cast<unsigned>((word >> awake_shift) & count_mask); }
  /// At most the true number, never more: a waker counts the search of the worker that it wakes after it has claimed that one, and by then the
  /// search may be over. So the field can be -1 for a moment; flags lie below it, and what lies above only counts ends.
  [[nodiscard]] int searching_or_owed() const noexcept {
    constexpr unsigned above = 64 - 40;
    return static_cast<int>(static_cast<std::int64_t>(word << above) >> (above + searching_shift));
  }
  [[nodiscard]] unsigned searching() const noexcept {
    const int counted = searching_or_owed();
    return counted > 0 ? static_cast<unsigned>(counted) : 0;
  }
  /// One sleeps with a time limit, and looks by itself.
  [[nodiscard]] bool watching() const noexcept { return (word & watching_bit) != 0; }
  /// One sleeps where readiness wakes it.
  [[nodiscard]] bool polling() const noexcept { return (word & polling_bit) != 0; }
  /// Workers have left since the runtime was made: what is theirs is to be looked after by others.
  [[nodiscard]] bool some_left() const noexcept { return (word & left_bit) != 0; }
  [[nodiscard]] bool paused() const noexcept { return (word & paused_bit) != 0; }
  [[nodiscard]] bool forked() const noexcept { return (word & forked_bit) != 0; }
  /// There is a watcher, and the runtime runs.
  [[nodiscard]] bool is_watched() const noexcept { return (word & (watching_bit | paused_bit | forked_bit)) == watching_bit; }
  /// Nothing for a poster to do: nobody sleeps, and the runtime runs.
  [[nodiscard]] bool quiet() const noexcept { return (word & (count_mask | paused_bit | forked_bit)) == 0; }
};

/// Where a worker sleeps.
enum class bed : std::uint8_t {
  token,   ///< on its token; only a call ends its sleep
  guard,   ///< at the alarm that those who run set ahead (guard_word.h)
  source,  ///< where readiness ends its sleep
};

/// How a policy wants what becomes ready to be taken while a worker rests (its-policy-polls).
enum class polling : std::uint8_t {
  never,   ///< this worker sleeps where no readiness comes: another one takes it
  always,  ///< readiness ends its sleep, and it posts it
  shared,  ///< by whichever worker is awake; while none is, by one that sleeps
};

/// Counts and tokens of all workers.
template <class Memory>
class idle_set {
 public:
  using token = typename Memory::template atomic<std::uint32_t>;
  enum : std::uint32_t { awake = 0, asleep = 1, woken = 2, gone = 3 };
  static constexpr unsigned nobody = ~0u;

  /// `workers` of them are there, and awake.
  explicit idle_set(unsigned workers) : idle_set{workers, workers} {}
  idle_set(unsigned workers, unsigned most_workers)
      : workers_{most_workers}, sleepers_{std::make_unique<sleeper[]>(most_workers)}, word_{workers * idle_view::one_awake, "idle word"} {
    for (unsigned n = workers; n < most_workers; ++n) sleepers_[n].state.store(gone, std::memory_order_relaxed);
    if (workers < most_workers) word_.store(workers * idle_view::one_awake | idle_view::left_bit, std::memory_order_relaxed);
  }

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

  /// searching -> running. Gives what there is from then on. If owes_cover() says so, this was the last searcher: every source is to be looked at
  /// again (a barrier has been passed), and others woken if there is more. While nobody sleeps there is nobody to wake: a worker that goes to
  /// rest later looks at every source itself (covered).
  [[nodiscard]] idle_view end_search() noexcept {
    const idle_view now{word_.fetch_sub(idle_view::one_searching, std::memory_order_acq_rel) - idle_view::one_searching};
    if (owes_cover(now)) pass_barrier(now.awake() == 1);  // covered: pairs with the barriers of posters that left their work to a searcher
    return now;
  }
  [[nodiscard]] static bool owes_cover(idle_view after_search) noexcept { return after_search.searching_or_owed() <= 0 && after_search.sleeping() != 0; }

  /// searching -> asleep, in that bed. After it, every source is to be looked at before sleeping (a barrier has been passed). Gives what the last
  /// read-modify-write has seen: if nobody is awake, this worker was the last one.
  ///
  /// Cost: two read-modify-writes (of one worker, one) and a full fence; instead of that a heavy barrier, and so a system call, while another
  /// worker is awake.
  idle_view rest(unsigned worker, bed where = bed::token) noexcept {
    sleepers_[worker].where.store(where, std::memory_order_relaxed);  // ordered by the token
    constexpr std::uint64_t change = idle_view::one_sleeping - idle_view::one_searching - idle_view::one_awake;
    const std::uint64_t counted = word_.fetch_add(change, std::memory_order_acq_rel) + change;
    // release: what this worker did; pairs with the acquire of a claim
    sleepers_[worker].state.store(asleep, std::memory_order_release);
    // Read once more by a read-modify-write, now that the token is there: who wakes, or pauses, later than that sees it.
    const idle_view last = workers_ == 1 ? idle_view{counted} : latest_view();
    pass_barrier(last.awake() == 0);  // covered: pairs with the barriers of posters that saw nobody asleep
    return last;
  }

  /// asleep -> searching, by the worker itself: woken, or found something, or its time is up. Its own step in any case, so that it
  /// is never counted as sleeping while it runs. Gives whether it was claimed.
  bool cancel(unsigned worker) noexcept {
    // acquire: pairs with the claim; release: pairs with a claim of the next rest
    const bool claimed = sleepers_[worker].state.exchange(awake, std::memory_order_acq_rel) != asleep;
    // The waker counts the search of whom it wakes.
    const std::uint64_t search = claimed ? 0 : idle_view::one_searching;
    word_.fetch_add(idle_view::one_end + idle_view::one_awake - idle_view::one_sleeping + search, std::memory_order_acq_rel);
    return claimed;
  }

  /// Whether somebody has claimed this worker, which has not noticed yet.
  [[nodiscard]] bool is_claimed(unsigned worker) const noexcept {
    return sleepers_[worker].state.load(std::memory_order_acquire) == woken;
  }

  /// Whether this worker sleeps, for a poster after publishing.
  [[nodiscard]] bool is_asleep(unsigned worker) const noexcept {
    return sleepers_[worker].state.load(std::memory_order_acquire) == asleep;
  }

  /// Whether this worker is not there: it has not come yet, or has left.
  [[nodiscard]] bool is_gone(unsigned worker) const noexcept { return sleepers_[worker].state.load(std::memory_order_acquire) == gone; }

  /// gone -> awake. Threads: one at a time for each worker, which does not run.
  void join(unsigned worker) noexcept {
    sleepers_[worker].state.store(awake, std::memory_order_release);
    word_.fetch_add(idle_view::one_end + idle_view::one_awake, std::memory_order_acq_rel);
  }
  /// awake, or searching, -> gone. After it the worker looks at what is its own, and at every source (a barrier has been passed): those that posted to
  /// its colors later see that it is gone (gone-or-found).
  void leave(unsigned worker, bool is_searching) noexcept {
    word_.fetch_or(idle_view::left_bit, std::memory_order_acq_rel);
    sleepers_[worker].state.store(gone, std::memory_order_release);
    const std::uint64_t search = is_searching ? idle_view::one_searching : 0;
    word_.fetch_add(idle_view::one_end - idle_view::one_awake - search, std::memory_order_acq_rel);
    Memory::heavy_barrier();
  }

  /// Of one that has said that it sleeps.
  [[nodiscard]] bed bed_of(unsigned worker) const noexcept { return sleepers_[worker].where.load(std::memory_order_relaxed); }

  /// Claims this worker, which will be searching. Gives whether the caller must end its sleep: else it is awake, and looks at all sources before it
  /// sleeps, or another one has claimed it.
  [[nodiscard]] bool claim(unsigned worker) noexcept {
    std::uint32_t expected = asleep;
    // acquire: pairs with rest; release: pairs with cancel
    if (!sleepers_[worker].state.compare_exchange_strong(expected, woken, std::memory_order_acq_rel, std::memory_order_relaxed)) return false;
    word_.fetch_add(idle_view::one_searching, std::memory_order_acq_rel);  // one-waker: others leave their work to it
    return true;
  }

  /// Claims some sleeping worker unless more than `others` search already. Gives its number, or nobody.
  ///
  /// The one that sleeps where readiness wakes it comes first: it would have been woken next. The guard comes last: others rely on it.
  [[nodiscard]] unsigned claim_any(unsigned others = 0) noexcept {
    const idle_view seen = view();
    if (seen.sleeping() == 0 || seen.searching() > others || seen.paused()) return nobody;
    if (seen.polling()) {
      const unsigned polls = poller_.load(std::memory_order_relaxed);  // a hint
      if (polls < workers_ && claim_in(polls, bed::source)) return polls;
    }
    unsigned last = nobody;
    for (unsigned n = 0; n < workers_; ++n) {
      if (sleepers_[n].state.load(std::memory_order_relaxed) != asleep) continue;
      if (sleepers_[n].where.load(std::memory_order_relaxed) == bed::guard) {
        last = n;
      } else if (claim(n)) {
        return n;
      }
    }
    if (last != nobody && claim(last)) return last;
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

  /// Becomes the one that sleeps where readiness wakes it, or that empties what only that one may; unless there is one. Threads: a worker.
  [[nodiscard]] bool start_polling(unsigned worker) noexcept {
    if (idle_view{word_.fetch_or(idle_view::polling_bit, std::memory_order_acq_rel)}.polling()) return false;
    poller_.store(worker, std::memory_order_relaxed);
    return true;
  }
  void end_polling() noexcept { word_.fetch_and(~idle_view::polling_bit, std::memory_order_acq_rel); }

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

  [[nodiscard]] bool claim_in(unsigned worker, bed where) noexcept {
    return sleepers_[worker].where.load(std::memory_order_relaxed) == where && is_asleep(worker) && claim(worker);
  }

  struct alignas(64) sleeper {
    /// Release when it is stored as asleep, or claimed: what its writer did before; pairs with the acquire of who claims, or wakes up.
    token state{awake, "token"};
    /// Release by its worker; pairs with earliest_wake().
    typename Memory::template atomic<std::uint64_t> wake_at{~std::uint64_t{0}, "wake_at"};
    /// A hint for others; its worker writes it before the token.
    typename Memory::template atomic<bed> where{bed::token, "bed"};
  };

  unsigned workers_;
  std::unique_ptr<sleeper[]> sleepers_;
  typename Memory::template atomic<unsigned> poller_{nobody, "poller"};  ///< who polled last: a hint
  /// Changed by acq_rel read-modify-writes only: each pairs with all earlier ones.
  alignas(64) typename Memory::template atomic<std::uint64_t> word_;
};

}  // namespace tartan::detail
