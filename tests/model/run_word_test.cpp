// Stops, late words and a drain against the runs that they may end, and those that they may not; docs/design/sleeping.md.

#include <gtest/gtest.h>

#include <cstdint>

#include "core/run_word.h"
#include "model_memory.h"
#include "program.h"
#include "waiting.h"
#include "weakened_memory.h"

namespace tartan::model {
namespace {

using enum std::memory_order;

/// One runtime, as lifecycle.cpp uses it.
template <class Memory>
class runs_of_a_runtime {
 public:
  /// As lifecycle::stop; a worker 0 that sleeps looks at the word again by itself.
  void stop() {
    (void)runs.stop([this] { stopping.store(true, release); });
  }
  void begin() {
    runs.begin([this] { return stopping.load(acquire); });
  }
  void wait_until_over() const {
    while (!runs.is_over()) Memory::pause();
  }

  /// As lifecycle::run: works until a stop, then drains. Nothing but the caller may end the drain.
  void run() {
    begin();
    wait_until_over();
    check(stopping.load(acquire), "stop-or-seen: a run until stopped ends by a stop only");
    drain();
  }
  void drain() {
    stopping.store(true, release);
    runs.begin_drain();
    begin();
    yield_point();
    check(!runs.is_over(), "drain-goes-on: no stop ends the drain");
    runs.end();
  }

  /// As finish_if_quiescent, by a worker that took the number of the run and then found nothing left in it.
  void find_nothing_left() {
    std::uint64_t this_run = runs.now();
    if (nothing_left_in.load(acquire) == this_run >> 1) (void)runs.end(this_run);
  }
  /// A run until idle that ends by itself, then one that no late word may end.
  void run_until_idle_and_again() {
    begin();
    nothing_left_in.store(runs.now() >> 1, release);
    runs.end();
    begin();
    yield_point();
    if (runs.is_over()) check(stopping.load(acquire), "own-run: a word about one run ends no other");
    runs.end();
    drain();
  }

 private:
  detail::run_word<Memory> runs;
  typename Memory::template atomic<bool> stopping{false, "stopping"};
  typename Memory::template atomic<std::uint64_t> nothing_left_in{~std::uint64_t{0}, "run with nothing left"};
};

template <class Memory>
result stops_against_a_run_and_its_drain(const options& bounds) {
  return explore(bounds, [](program& p) {
    auto* const r = p.make<runs_of_a_runtime<Memory>>();
    p.thread("stopper", [=] { r->stop(); });
    p.thread("another", [=] { r->stop(); });
    p.thread("worker 0", [=] { r->run(); });
  });
}

template <class Memory>
result late_words_against_the_next_run(const options& bounds) {
  return explore(bounds, [](program& p) {
    auto* const r = p.make<runs_of_a_runtime<Memory>>();
    p.thread("stopper", [=] { r->stop(); });
    p.thread("worker 1", [=] { r->find_nothing_left(); });
    p.thread("worker 0", [=] { r->run_until_idle_and_again(); });
  });
}

TEST(run_word, is_ended_by_each_of_two_stops_and_by_neither_once_the_drain_has_begun) {
  const result found = stops_against_a_run_and_its_drain<model_memory>({.name = "stops_against_drain"});
  EXPECT_TRUE(found.proved()) << found.report;
}

TEST(run_word, ends_no_run_but_the_one_that_a_late_word_is_about) {
  const result found = late_words_against_the_next_run<model_memory>({.name = "late_words_against_next_run"});
  EXPECT_TRUE(found.proved()) << found.report;
}

TEST(run_word, needs_its_orders_and_barriers) {
  EXPECT_FALSE(stops_against_a_run_and_its_drain<without_full_barrier>({.name = "run_word_no_full"}).passed);
  EXPECT_FALSE(stops_against_a_run_and_its_drain<without_order>({.name = "run_word_relaxed"}).passed);
}

}  // namespace
}  // namespace tartan::model
