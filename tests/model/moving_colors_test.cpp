// A color that moves between the workers of the papers' schedulers, while it is posted to and a third one comes for it; sections 7 and 8 of
// docs/design/paper-schedulers.md.

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>
#include <type_traits>

#include "core/sched/papers/color_homes.h"
#include "core/sched/papers/two_part_homes.h"
#include "model_memory.h"
#include "program.h"
#include "weakened_memory.h"

namespace tartan::model {
namespace {

/// What a home needs of its lock, and no more.
template <class Memory>
class small_lock {
 public:
  void lock() noexcept {
    for (int free = 0; !word_.compare_exchange_strong(free, 1, std::memory_order_acquire, std::memory_order_relaxed); free = 0) Memory::pause();
  }
  void unlock() noexcept { word_.store(0, std::memory_order_release); }

 private:
  model_atomic<int> word_{0, "lock"};
};

/// A number that is written under a lock, and read without it only as a hint: here nobody does, and so its accesses are no steps.
template <class T>
class hint {
 public:
  hint() = default;
  explicit hint(T value, const char* name = nullptr) : inner_{value, name} {}
  [[nodiscard]] T load(std::memory_order /*order*/) const noexcept { return inner_; }
  void store(T value, std::memory_order /*order*/) noexcept { inner_ = value; }

 private:
  model_plain<T> inner_;
};

/// The numbers of tasks, of classes and of nanoseconds, and whether a thief may come, are hints; whose a class is, and which is on its way, are not.
template <class Memory>
struct with_hints : Memory {
  template <class T>
  using atomic = std::conditional_t<std::is_same_v<T, std::uint64_t> || std::is_same_v<T, bool>, hint<T>, typename Memory::template atomic<T>>;
};

struct small_traits {
  template <class Memory>
  using lock = small_lock<Memory>;
  static constexpr std::uint32_t classes = 8;
};

/// What the events of one class share, and what is noted of them.
struct small_ledger {
  model_plain<int> data{0, "data of the class"};
  ghost<int> running{0, "events that run"};
  ghost<int> ran{0, "events that have run"};
  std::array<ghost<int>, 3> last;  // number of each producer's latest event
};

/// An event in a queue, with a color queue for its class.
template <class Memory>
struct small_task {
  small_task(std::uint64_t color, int by, int which)
      : color_value{color}, color_class{static_cast<std::uint32_t>(color % small_traits::classes)}, producer{by}, number{which} {}

  model_plain<small_task*> next{nullptr, "next of task"};
  model_plain<small_task*> previous{nullptr, "previous of task"};
  model_plain<bool> right{false, "part of task"};
  const std::uint64_t color_value;
  const std::uint32_t color_class;
  const int producer;
  const int number;
  std::uint32_t cost_ns = 1;
  std::uint8_t priority = 0;
  detail::class_queue_of<Memory, small_task> color_queue;
};

using ledgers = std::array<small_ledger, small_traits::classes>;

template <class Task>
void run(ledgers& books, Task& t) {
  small_ledger& book = books[t.color_class];
  check(book.running == 0, "one-place: two events of one class never run at the same time");
  book.running = 1;
  auto& last = book.last[static_cast<std::size_t>(t.producer)];
  check(t.number == last + 1, "no-overtaking: each producer's events in turn");
  last = t.number;
  book.data = book.data + 1;
  book.ran = book.ran + 1;
  yield_point();
  book.running = 0;
}

/// per_worker.
template <class Memory>
struct two_parts {
  using task = small_task<Memory>;
  using homes = detail::two_part_homes<Memory, task, small_traits>;

  static std::string name(const char* what) { return std::string{"per_worker_"}.append(what); }

  homes all{3, false};
  std::array<typename homes::loot, 3> loot;  // of each thief
  ledgers books;

  void post(task& t) { all.post(t); }
  void work(unsigned worker, int most) {
    for (int n = 0; n < most; ++n) {
      task* const t = all.next(worker, 2, [](auto&) {});
      if (t == nullptr) return;
      run(books, *t);
    }
    all.end(worker, [](auto&) {});
  }
};

/// color_queues; `TimeLeft`: by what is worth a steal, which is all, but for what costs nothing.
template <class Memory, bool TimeLeft>
struct color_queues {
  using task = small_task<Memory>;
  using homes = detail::color_homes<Memory, task, small_traits>;

  static std::string name(const char* what) { return std::string{TimeLeft ? "color_queues_" : "color_queues_base_"}.append(what); }

  homes all{3, {.time_left = TimeLeft}};
  std::array<typename homes::loot, 3> loot;
  ledgers books;

  void post(task& t) {
    // A spare one that was not needed is the task's, as before.
    static_cast<void>(all.post(t, [&] { return &t.color_queue; }));
  }
  void work(unsigned worker, int most) {
    for (int n = 0; n < most && all.begin(worker, [](auto&) {}); ++n) {
      if (task* const t = all.next(worker); t != nullptr) run(books, *t);
      if (auto* const emptied = all.end(worker); emptied != nullptr) poison(*emptied);
    }
  }
};
template <class Memory>
using base_queues = color_queues<Memory, false>;
template <class Memory>
using worthy_queues = color_queues<Memory, true>;

constexpr std::uint64_t moved = 3;        // at home on worker 0
constexpr std::uint64_t congruent = 11;   // of the same class
constexpr std::uint64_t stays = 0;        // on worker 0
constexpr std::uint64_t of_thief = 1;     // at home on worker 1
constexpr std::uint64_t too = 4;          // there, too

template <class Policy>
struct scene {
  explicit scene(program& p) : s{p.make<Policy>()}, program_{&p} {}

  auto* task(std::uint64_t color, int producer, int number, bool right = false) {
    auto* const made = program_->make<typename Policy::task>(color, producer, number);
    made->right = right;
    made->cost_ns = color % small_traits::classes == moved ? 10'000 : 1;
    return made;
  }
  void post(std::uint64_t color, int producer, int number, bool right = false) { s->post(*task(color, producer, number, right)); }

  static void steal(Policy* s, unsigned thief, unsigned victim) {
    if (s->all.take(thief, victim, s->loot[thief])) s->all.put(thief, s->loot[thief]);
  }
  static void all_ran(Policy* s, int events) {
    for (unsigned round = 0; round < 3; ++round) {
      for (unsigned n = 0; n < 3; ++n) s->work(n, 16);
    }
    int ran = 0;
    for (small_ledger& book : s->books) ran += book.ran;
    check(ran == events, "every event that was posted runs once");
    for (unsigned n = 0; n < 3; ++n) {
      check(s->all.size(n) == 0 && s->all.waiting(n) == 0, "what is counted is there");
      check(!s->all.may_be_worth_a_visit(n), "nobody is called for nothing");
    }
  }

  Policy* s;

 private:
  program* program_;
};

// The class moves while it is posted to, by two threads; the thief runs it.
template <class Policy>
result posted_to(const options& bounds) {
  return explore(bounds, [](program& p) {
    scene<Policy> t{p};
    auto* const s = t.s;
    t.post(moved, 2, 1);
    t.post(stays, 2, 1);
    t.post(stays, 2, 2);
    p.thread("poster", [=, a = t.task(moved, 0, 1), b = t.task(congruent, 0, 2)] { s->post(*a), s->post(*b); });
    p.thread("thief", [=] {
      t.steal(s, 1, 0);
      s->work(1, 1);
    });
    p.thread("owner", [=] { s->work(0, 1); });
    p.finally([=] { t.all_ran(s, 5); });
  });
}

// The thief's home has something too, so that a third one may come for what it brings.
template <class Policy>
result two_thieves(const options& bounds) {
  return explore(bounds, [](program& p) {
    scene<Policy> t{p};
    auto* const s = t.s;
    t.post(moved, 2, 1);
    t.post(stays, 2, 1);
    t.post(stays, 2, 2);
    for (int n = 1; n <= 5; ++n) t.post(of_thief, 2, n, true);
    t.post(too, 2, 1, true);
    p.thread("poster", [=, a = t.task(moved, 0, 1)] { s->post(*a); });
    p.thread("thief", [=] { t.steal(s, 1, 0); });
    p.thread("second thief", [=] {
      t.steal(s, 2, 1);
      s->work(2, 1);
    });
    p.finally([=] { t.all_ran(s, 10); });
  });
}

// The same with the owner and without a poster: what runs stays.
template <class Policy>
result stolen_from_a_runner(const options& bounds) {
  return explore(bounds, [](program& p) {
    scene<Policy> t{p};
    auto* const s = t.s;
    t.post(moved, 2, 1);
    t.post(moved, 2, 2);
    for (int n = 1; n <= 3; ++n) t.post(stays, 2, n);
    p.thread("owner", [=] { s->work(0, 1); });
    p.thread("thief", [=] {
      t.steal(s, 1, 0);
      s->work(1, 1);
    });
    p.thread("second thief", [=] {
      t.steal(s, 2, 0);
      s->work(2, 1);
    });
    p.finally([=] { t.all_ran(s, 5); });
  });
}

// The class is away and back between a poster's first look at the map and its second.
template <class Policy>
result there_and_back(const options& bounds) {
  return explore(bounds, [](program& p) {
    scene<Policy> t{p};
    auto* const s = t.s;
    t.post(moved, 2, 1);
    t.post(stays, 2, 1);
    t.post(stays, 2, 2);
    for (int n = 1; n <= 5; ++n) t.post(of_thief, 2, n);
    p.thread("poster", [=, a = t.task(moved, 0, 1)] { s->post(*a); });
    p.thread("mover", [=, b = t.task(moved, 1, 1)] {
      t.steal(s, 1, 0);
      s->post(*b);
      t.steal(s, 0, 1);
    });
    p.finally([=] { t.all_ran(s, 10); });
  });
}

// A class is given away, as place() does, by who then posts to it and runs it there, while others post to it, come for it and run it.
template <class Policy>
result given_away(const options& bounds) {
  return explore(bounds, [](program& p) {
    scene<Policy> t{p};
    auto* const s = t.s;
    t.post(moved, 2, 1);
    t.post(stays, 2, 1);
    t.post(stays, 2, 2);
    p.thread("poster", [=, a = t.task(moved, 0, 1)] { s->post(*a); });
    p.thread("thief", [=] {
      t.steal(s, 1, 0);
      s->work(1, 1);
    });
    p.thread("giver", [=, b = t.task(moved, 1, 1)] {
      s->all.give(moved, 2);
      s->post(*b);
      s->work(2, 1);
    });
    p.finally([=] { t.all_ran(s, 5); });
  });
}

// CPU and I/O events of one class: each producer's stay in order across the parts.
template <class Policy>
result both_parts(const options& bounds) {
  return explore(bounds, [](program& p) {
    scene<Policy> t{p};
    auto* const s = t.s;
    t.post(moved, 2, 1);
    t.post(moved, 2, 2, true);
    for (int n = 1; n <= 3; ++n) t.post(stays, 2, n);
    p.thread("poster", [=, a = t.task(moved, 0, 1, true), b = t.task(moved, 0, 2)] { s->post(*a), s->post(*b); });
    p.thread("thief", [=] {
      t.steal(s, 1, 0);
      s->work(1, 2);
    });
    p.finally([=] { t.all_ran(s, 7); });
  });
}

template <class Policy>
class moving_colors : public testing::Test {};
using policies = testing::Types<two_parts<with_hints<model_memory>>, base_queues<with_hints<model_memory>>, worthy_queues<with_hints<model_memory>>>;
TYPED_TEST_SUITE(moving_colors, policies, );

TYPED_TEST(moving_colors, keep_their_order_while_they_are_posted_to) {
  const result found = posted_to<TypeParam>({.name = TypeParam::name("posted_to"), .preemption_bound = 2});
  EXPECT_TRUE(found.proved()) << found.report;
}

TYPED_TEST(moving_colors, are_on_one_worker_although_a_third_one_comes) {
  const result found = two_thieves<TypeParam>({.name = TypeParam::name("two_thieves"), .preemption_bound = 2});
  EXPECT_TRUE(found.proved()) << found.report;
}

TYPED_TEST(moving_colors, stay_while_they_run) {
  const result found = stolen_from_a_runner<TypeParam>({.name = TypeParam::name("stolen_from_a_runner"), .preemption_bound = 2});
  EXPECT_TRUE(found.proved()) << found.report;
}

TYPED_TEST(moving_colors, may_be_back_when_a_poster_looks_again) {
  const result found = there_and_back<TypeParam>({.name = TypeParam::name("there_and_back"), .preemption_bound = 2});
  EXPECT_TRUE(found.proved()) << found.report;
}

TYPED_TEST(moving_colors, are_given_away_between_events_only) {
  const result found = given_away<TypeParam>({.name = TypeParam::name("given_away"), .preemption_bound = 1});
  EXPECT_TRUE(found.proved()) << found.report;
}

TYPED_TEST(moving_colors, keep_their_order_in_both_parts) {
  const result found = both_parts<TypeParam>({.name = TypeParam::name("both_parts"), .preemption_bound = 2});
  EXPECT_TRUE(found.proved()) << found.report;
}

// What would be missing if every access were relaxed.
TEST(moving_colors_weakened, need_the_order_of_the_map) {
  EXPECT_FALSE(posted_to<two_parts<with_hints<without_order>>>({.name = "per_worker_relaxed"}).passed);
  EXPECT_FALSE(posted_to<base_queues<with_hints<without_order>>>({.name = "color_queues_relaxed"}).passed);
}

}  // namespace
}  // namespace tartan::model
