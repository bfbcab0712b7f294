// Workers of a runtime that waits for descriptors, in small: the real idle set, and around it what lifecycle_sleep.cpp,
// lifecycle_guard.cpp, epoll_source.cpp and the default policy do with it. What becomes ready, and what is posted, is work that any
// worker may do. Time passes only when nobody can go on: then the guard looks, and a watcher.
#pragma once

#include <array>
#include <cstdint>

#include "core/sleep/idle_set.h"
#include "core/tuning.h"
#include "model_memory.h"
#include "program.h"
#include "waiting.h"

namespace tartan::model {

/// What may be left out, to see that it is needed.
struct polling_ways {
  bool looks_who_polls = true;     // is_in_wrong_bed, of the last one that goes to rest
  bool looks_who_guards = true;    // the same, of one that counted on a guard
  bool takes_last_view = true;     // both in what rest() has given, and not in an older view
  bool polls_next = true;          // one that has seen that nobody polls does so, whether others are awake by then or not
  bool hands_on = true;            // the last searcher wakes one more
  bool watches_at_source = true;   // who polls has a time limit too while something is declined
  bool asks_before_forget = true;  // a look forgets a ring only if nobody polls
  bool hands_on_after_look = true; // a look that has forgotten a ring hands on
};

template <class Memory, unsigned Workers>
class pollers {
 public:
  using idle_set = detail::idle_set<Memory>;
  using idle_view = detail::idle_view;
  using bed = detail::bed;

  /// Where each worker sleeps to begin with; `work` is what will be posted and become ready, and so many events begin before one ends.
  pollers(std::array<bed, Workers> beds, int work, int company, bool posts, polling_ways how = {})
      : pending{work}, how_{how}, company_{company}, posts_{posts} {
    for (unsigned n = 0; n < Workers; ++n) {
      idle.search();
      begin_in(n, beds[n]);
      (void)idle.rest(n, beds[n]);
    }
  }
  /// All of them search to begin with.
  pollers(int work, int company, bool posts, polling_ways how = {}) : pending{work}, how_{how}, company_{company}, posts_{posts} {
    for (unsigned n = 0; n < Workers; ++n) idle.search();
  }

  idle_set idle{Workers};
  std::array<typename Memory::template atomic<int>, Workers> posted;
  std::array<int, Workers> declines{};  // so often this thief leaves alone what an awake worker has
  ghost<int> pending;  // work to come, or to be begun
  ghost<int> ready{0, "edges that nobody has taken"};
  ghost<bool> rung{false, "the bell of the source"};
  ghost<unsigned> in_source{0, "workers that sleep at the source"};

  /// The kernel's.
  void becomes_ready() {
    yield_point();
    ready = ready + 1;
    source_.signal();
  }
  /// A foreign thread posts to a color of that worker.
  void post(unsigned owner) {
    posted[owner].fetch_add(1, std::memory_order_release);
    const idle_view seen = idle.view_after_publish();
    if (seen.quiet() || seen.searching() != 0) return;
    if (idle.is_asleep(owner)) {
      wake(owner);
    } else if (!seen.watching()) {
      (void)wake_any();
    }
  }
  /// The same for work that only this worker can do.
  void post_to(unsigned only) {
    posted[only].fetch_add(1, std::memory_order_release);
    if (!idle.view_after_publish().quiet()) wake(only);
  }
  void wake(unsigned worker) {
    if (idle.claim(worker)) call(worker);
  }
  /// Known-bed: where the worker slept when it was claimed.
  void call(unsigned claimed) {
    if (idle.bed_of(claimed) == bed::source) {
      ring();
    } else {
      alarm_[claimed].signal();
    }
  }
  void ring() {
    bell_.signal();
    rung = true;
    source_.signal();
  }
  bool wake_any(unsigned others = 0) {
    const unsigned claimed = idle.claim_any(others);
    if (claimed == idle_set::nobody) return false;
    call(claimed);
    return true;
  }

  /// As lifecycle::harvest.
  void look(unsigned worker, bool searching) {
    yield_point();
    const bool saw_call = rung;
    harvest(worker);
    if (!saw_call) return;
    if (how_.asks_before_forget && !idle.start_polling(worker)) return;
    if (rung) silence();
    if (how_.asks_before_forget) idle.end_polling();
    if (!searching && how_.hands_on_after_look) hand_on();
  }

  /// A worker's life until nothing happens any more.
  void work(unsigned worker, bool begins_asleep, bool searching = true) {
    if (begins_asleep && !sleep(worker, rests_in_[worker] == bed::guard)) return;
    for (;;) {
      const auto declined = static_cast<std::uint64_t>(declines[worker]);
      const auto kept = static_cast<std::uint64_t>(kept_[worker]);
      forget(mix(mix(mix(searching, polls_next_[worker]), mix(was_missed_[worker], declined)), kept));
      if (searching && idle.view().awake() != 1) look(worker, true);
      if (take_kept(worker) || take(worker) || (searching && steal(worker))) {
        pending = pending - 1;
        was_missed_[worker] = false;
        if (posts_ && posted[worker].load(std::memory_order_relaxed) != 0) after_local();
        end_search(searching);
        searching = false;
        event();
        continue;
      }
      if (!searching) idle.search();
      searching = true;
      if (!rest(worker)) return;
    }
  }
  /// The same of one that has just found nothing.
  void rest_and_work(unsigned worker) {
    if (rest(worker)) work(worker, false);
  }
  /// An event, which does not end before so many have begun.
  void event() {
    if (company_ > 1) begun_.fetch_add(1, std::memory_order_relaxed);
    if (company_ > 1) wait_until(begun_, std::memory_order_relaxed, [=, this](int count) { return count >= company_; });
  }
  void end_search(bool searching) {
    if (!searching || !idle_set::owes_cover(idle.end_search())) return;
    cover();
    hand_on();
  }
  void check_end() {
    check(pending == 0 && ready == 0, "one-polls: while all sleep, nothing that is ready or posted is left");
    check(idle.view().searching_or_owed() == 0, "counted: nobody searches");
    for (unsigned n = 0; n < Workers; ++n) check(!idle.is_claimed(n), "known-bed: who was claimed has come");
  }

 private:
  enum class seen_work : std::uint8_t { none, declined, found };

  bool take(unsigned owner) {
    if (!posts_) return false;
    int count = posted[owner].load(std::memory_order_relaxed);
    while (count > 0) {
      if (posted[owner].compare_exchange_strong(count, count - 1, std::memory_order_acquire, std::memory_order_relaxed)) return true;
    }
    return false;
  }
  bool take_kept(unsigned worker) {
    const bool any = kept_[worker] != 0;
    kept_[worker] -= any ? 1 : 0;
    return any;
  }
  bool steal(unsigned worker) {
    for (unsigned step = 1; step < Workers; ++step) {
      const unsigned victim = (worker + step) % Workers;
      if (!posts_ || posted[victim].load(std::memory_order_relaxed) == 0) continue;
      if (declines[worker] != 0 && !idle.is_asleep(victim)) {
        --declines[worker];
        continue;
      }
      if (take(victim)) return true;
    }
    return false;
  }
  void harvest(unsigned worker) {
    kept_[worker] += ready;
    ready = 0;
  }
  seen_work sources(unsigned worker) {
    if (kept_[worker] != 0) return seen_work::found;
    seen_work seen = seen_work::none;
    if (!posts_) return seen;
    for (unsigned n = 0; n < Workers; ++n) {
      if (posted[n].load(std::memory_order_relaxed) == 0) continue;
      if (n == worker || idle.is_asleep(n)) return seen_work::found;
      seen = seen_work::declined;
    }
    return seen;
  }
  // As default_policy::after_local.
  void after_local() {
    const idle_view seen = idle.view_by_worker();
    if (!seen.quiet() && seen.searching() == 0 && !seen.watching()) (void)wake_any();
  }
  // As default_policy::cover.
  void cover() {
    if (!posts_ || idle.view().watching()) return;
    int loot = 0;
    for (auto& each : posted) loot += each.load(std::memory_order_relaxed);
    for (unsigned n = 0; n < detail::woken_at_once && static_cast<int>(n) < loot; ++n) {
      if (!wake_any(n)) return;
    }
  }
  // As lifecycle::hand_on.
  void hand_on() {
    const idle_view seen = idle.view();
    if (!how_.hands_on || seen.polling() || seen.sleeping() == 0) return;
    if (!seen.watching()) (void)wake_any();
  }

  void begin_in(unsigned worker, bed where) {
    rests_in_[worker] = where;
    if (where == bed::source) check(idle.start_polling(worker), "the test begins with one poller");
    if (where == bed::guard) check(idle.start_watch(), "the test begins with one guard");
  }
  // As lifecycle::choose_bed.
  bed choose_bed(unsigned worker) {
    const idle_view seen = idle.view();
    const bool polls = how_.polls_next && polls_next_[worker];
    polls_next_[worker] = false;
    if ((polls || was_missed_[worker] || seen.awake() <= 1) && !seen.polling() && idle.start_polling(worker)) return bed::source;
    return idle.start_watch() ? bed::guard : bed::token;
  }
  // As lifecycle::rest, searching before and after. False: nothing happens any more.
  bool rest(unsigned worker) {
    bool declined = sources(worker) == seen_work::declined;
    const bed in = choose_bed(worker);
    rests_in_[worker] = in;
    bool watch = in == bed::guard || (may_watch(in, declined) && idle.start_watch());
    const idle_view older = how_.takes_last_view ? idle_view{0} : idle.view();
    const idle_view given = idle.rest(worker, in);
    const idle_view last = how_.takes_last_view ? given : older;
    const seen_work seen = sources(worker);
    if (seen == seen_work::found || is_in_wrong_bed(in, last)) {
      if (watch) idle.end_watch();
      polls_next_[worker] = last.awake() == 0 && !last.polling();
      get_up(worker);
      return true;
    }
    declined = seen == seen_work::declined;
    watch = watch || (may_watch(in, declined) && idle.start_watch());
    return sleep(worker, watch);
  }
  bool may_watch(bed in, bool declined) const { return declined && in == bed::source && how_.watches_at_source; }
  bool is_in_wrong_bed(bed in, idle_view last) const {
    if (in == bed::source) return false;
    if (last.awake() == 0) return how_.looks_who_polls && !last.polling();
    return how_.looks_who_guards && in == bed::token && !last.watching();
  }
  void get_up(unsigned worker) {
    (void)idle.cancel(worker);
    if (rests_in_[worker] == bed::source) idle.end_polling();
    rests_in_[worker] = bed::token;
    // As lifecycle::attend: sets the alarm again of a guard that sleeps on because all slept.
    for (unsigned n = 0; n < Workers; ++n) {
      if (!parked_[n]) continue;
      parked_[n] = false;
      alarm_[n].signal();
    }
  }
  // As lifecycle::sleep.
  bool sleep(unsigned worker, bool watch) {
    const bool polls = rests_in_[worker] == bed::source;
    if (polls) {
      check(in_source == 0, "one-polls: one at most sleeps at the source");
      in_source = in_source + 1;
    }
    bool over = false;
    while (!over && idle.token_of(worker).load(std::memory_order_acquire) == idle_set::asleep) {
      if (polls ? wait_at_source() : alarm_[worker].wait_for(timeout::when_quiet)) {
        if (polls && ready != 0) break;
        continue;
      }
      over = pending == 0;
      if (!over && rests_in_[worker] == bed::guard && idle.latest_view().awake() == 0) {
        parked_[worker] = true;
      } else if (watch) {
        was_missed_[worker] = rests_in_[worker] == bed::guard;
        break;
      }
      // Others are to come for what is left, or this is a deadlock.
      if (!over && !polls) alarm_[worker].wait();
      if (!over && polls) wait_for_ever_at_source();
      if (polls && ready != 0) break;
    }
    if (polls) in_source = in_source - 1;
    if (over) return false;
    if (watch) idle.end_watch();
    get_up(worker);
    if (polls) harvest(worker);
    return true;
  }
  // As epoll_source::wait: a call that ends it is silenced. False: time has passed.
  bool wait_at_source() {
    while (ready == 0 && !rung) {
      if (!source_.wait_for(timeout::when_quiet)) return false;
    }
    if (rung) silence();
    return true;
  }
  void wait_for_ever_at_source() {
    while (ready == 0 && !rung) source_.wait();
    if (rung) silence();
  }
  // A read of the eventfd: what came before the call is seen.
  void silence() {
    bell_.wait();
    rung = false;
  }

  polling_ways how_;
  int company_;
  bool posts_;  // whether anything is posted in this test, apart from what is ready
  std::array<int, Workers> kept_{};  // each the worker's own, as those below: readiness that it has taken
  std::array<bed, Workers> rests_in_{};
  std::array<bool, Workers> polls_next_{};
  std::array<bool, Workers> was_missed_{};  // as guard it got up, and has run nothing since
  std::array<token, Workers> alarm_;
  std::array<ghost<bool>, Workers> parked_;
  token source_{"source"};
  token bell_{"bell"};
  model_atomic<int> begun_{0, "events that have begun"};
};

}  // namespace tartan::model
