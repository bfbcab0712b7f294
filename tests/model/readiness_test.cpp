// Edges against the operations that wait for them: no edge is lost, one event at a time, none of a descriptor that is closed;
// docs/design/io.md.

#include "io/readiness.h"

#include <gtest/gtest.h>

#include "model_memory.h"
#include "program.h"
#include "waiting.h"
#include "weakened_memory.h"

namespace tartan::model {
namespace {

using enum std::memory_order;

// One slot as in io/slot.cpp, for reading: bytes come, whoever harvests their edge tells the word, the color reads them.
template <class Memory>
class small_slot {
 public:
  using word = detail::readiness<Memory>;

  // A byte arrives for what is open with this generation, and its edge is harvested by the calling thread.
  void harvest(std::uint32_t generation) {
    bytes_.fetch_add(1, relaxed);  // the kernel orders a byte, its edge and the read after it
    if (!word_.set(generation, word::in)) return;
    check(queued_ == 0, "one-event: at most one event of a slot is queued");
    queued_ = 1;
    event_.signal();
  }
  // The same for an edge that was harvested long ago.
  void late(std::uint32_t generation) {
    if (!word_.set(generation, word::in)) return;
    check(queued_ == 0, "one-event: at most one event of a slot is queued");
    queued_ = 1;
    event_.signal();
  }

  // The color: reads so many bytes, waiting where there are none.
  void read(int bytes) {
    for (int got = 0; got < bytes;) {
      if (tryable_ && attempt()) {
        ++got;
        continue;
      }
      if (wait()) {
        ++got;
        continue;
      }
      for (bool served = false; !served;) {
        news();
        while (tryable_ && !served) served = attempt();
      }
      ++got;
    }
  }

  // As io_slot::shut, and the event that may be on its way.
  void close() {
    const bool queued = word_.reopen();
    if (queued) news();
    tryable_ = true;
    armed_ = false;
    bytes_.store(0, relaxed);
    opened_.store(word_.generation(), release);
  }
  // A descriptor that was opened in the slot has no news yet.
  void check_untouched(std::uint32_t generation) {
    check(word_.generation() == generation, "right-generation: closing counts up");
    check(word_.arm(detail::flow::in) == 0, "right-generation: no edge of what was open before");
    word_.disarm(detail::flow::in);
  }
  [[nodiscard]] const model_atomic<std::uint32_t>& opened() const { return opened_; }

 private:
  bool attempt() {
    int there = bytes_.load(relaxed);
    while (there > 0) {
      if (bytes_.compare_exchange_strong(there, there - 1, relaxed, relaxed)) return true;
    }
    tryable_ = false;
    return false;
  }
  // As io_slot::wait. True: it was read meanwhile.
  bool wait() {
    while (!armed_) {
      const std::uint32_t missed = word_.arm(detail::flow::in);
      armed_ = true;
      if (missed == 0) break;
      tryable_ = true;
      if (attempt()) return true;
    }
    return false;
  }
  // As io_slot::news.
  void news() {
    event_.wait();
    queued_ = 0;
    if ((word_.take() & word::in) != 0) tryable_ = true;
  }

  word word_;
  model_atomic<int> bytes_{0, "bytes"};
  model_atomic<std::uint32_t> opened_{0, "opened"};
  token event_{"event"};
  ghost<int> queued_{0, "events queued"};
  bool tryable_ = true;  // the color's own
  bool armed_ = false;   // the color's own
};

// A descriptor's read and an edge's bit are ordered by the kernel's lock: a reader that was told of an edge sees its byte. Here the
// word itself has to order them, which is more than the code needs of the kernel.
template <class Memory>
result two_edges(const options& bounds) {
  return explore(bounds, [](program& p) {
    auto* const s = p.make<small_slot<Memory>>();
    p.thread("harvester", [=] { s->harvest(0); });
    p.thread("second harvester", [=] { s->harvest(0); });
    p.thread("color", [=] { s->read(2); });
  });
}

TEST(readiness, loses_no_edge_of_two_harvesters) {
  const result found = two_edges<model_memory>({.name = "readiness_two_edges"});
  EXPECT_TRUE(found.proved()) << found.report;
}

TEST(readiness, needs_its_orders) { EXPECT_FALSE(two_edges<without_order>({.name = "readiness_relaxed"}).passed); }

// The color closes and opens another descriptor in the slot while an edge of the old one is harvested.
template <class Memory>
result closed_and_open_again(const options& bounds) {
  return explore(bounds, [](program& p) {
    auto* const s = p.make<small_slot<Memory>>();
    p.thread("harvester", [=] { s->harvest(0); });
    p.thread("late harvester", [=] { s->late(0); });
    p.thread("color", [=] {
      s->read(1);
      s->close();
      s->check_untouched(1);
    });
  });
}

TEST(readiness, is_not_touched_by_an_edge_of_what_was_closed) {
  const result found = closed_and_open_again<model_memory>({.name = "readiness_closed"});
  EXPECT_TRUE(found.proved()) << found.report;
}

// What is opened in the slot gets its own edges, although one of the old ones is under way.
template <class Memory>
result edge_of_the_next(const options& bounds) {
  return explore(bounds, [](program& p) {
    auto* const s = p.make<small_slot<Memory>>();
    p.thread("late harvester", [=] { s->late(0); });
    p.thread("harvester", [=] { s->harvest(wait_until(s->opened(), acquire, [](std::uint32_t g) { return g == 1; })); });
    p.thread("color", [=] {
      s->close();
      s->read(1);
    });
  });
}

TEST(readiness, loses_no_edge_of_what_is_opened_next) {
  const result found = edge_of_the_next<model_memory>({.name = "readiness_next"});
  EXPECT_TRUE(found.proved()) << found.report;
}

}  // namespace
}  // namespace tartan::model
