// Random programs against the promises: colors by value, strands that come and go, unordered events, batches, foreign threads, and
// an end in the middle. TARTAN_SEED replays a program; which thread is when where is not replayed.

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <tartan/core/event_batch.h>
#include <tartan/core/post.h>
#include <tartan/core/runtime.h>
#include <tartan/core/strand.h>
#include <thread>
#include <utility>
#include <vector>

#include "tests/seed.h"
#include "tests/workers.h"

namespace tartan {
namespace {

constexpr unsigned lanes = 24;     ///< things that are ordered: colors and strands
constexpr unsigned by_value = 12;  ///< of them, colors by value; the first is the default color
constexpr unsigned producers = 4;  ///< foreign threads; each lane's own events are a producer more

/// What the checker knows about one color, in plain data: that nobody else touches it meanwhile is what is to be proved.
struct ledger {
  std::uint32_t inside = 0;
  std::array<std::uint32_t, producers + lanes> last{};
  std::uint64_t ran = 0;
  bool broken_exclusion = false;
  bool broken_order = false;
};

/// One program and its books.
class program {
 public:
  program(options with, std::uint64_t seed) : seed_{seed}, rt_{std::move(with)} {
    for (unsigned n = 0; n < lanes - by_value; ++n)
      strands_[n] = std::make_unique<strand>(rt_, n % 3 == 0 ? "a named strand" : "");
  }

  runtime& rt() { return rt_; }

  /// One foreign thread's part.
  void produce(unsigned producer, unsigned count) {
    std::mt19937_64 random{seed_ + producer};
    std::array<std::uint32_t, lanes> sent{};
    for (unsigned n = 0; n < count && !refused_; ++n) {
      switch (random() % 8) {
        case 0:
          produce_batch(producer, random, sent);
          break;
        case 1:
          post_unordered(random());
          break;
        case 2:
          passing_strand(random());
          break;
        default: {
          const auto lane = static_cast<unsigned>(random() % lanes);
          send(lane, producer, ++sent[lane], static_cast<unsigned>(random() % 6), random());
        }
      }
      if (random() % 64 == 0) std::this_thread::yield();
    }
  }

  /// After everything has ended: every event that was accepted has run once or was destroyed once.
  void check(std::size_t destroyed) {
    std::uint64_t ran = free_ran_.load();
    for (const ledger& each : books_) {
      EXPECT_FALSE(each.broken_exclusion);
      EXPECT_FALSE(each.broken_order);
      EXPECT_EQ(each.inside, 0u);
      ran += each.ran;
    }
    EXPECT_EQ(ran + dropped_.load(), made_.load());
    EXPECT_EQ(dropped_.load(), destroyed + not_accepted_.load());
  }

 private:
  /// Ends in one of two ways, each counted once.
  class ticket {
   public:
    explicit ticket(program& p) : of_{&p} { p.made_.fetch_add(1, std::memory_order_relaxed); }
    ticket(ticket&& other) noexcept : of_{std::exchange(other.of_, nullptr)} {}
    ticket& operator=(ticket&&) = delete;
    ~ticket() {
      if (of_ != nullptr) of_->dropped_.fetch_add(1, std::memory_order_relaxed);
    }
    program& use() { return *std::exchange(of_, nullptr); }

   private:
    program* of_;
  };

  /// A numbered event of a lane.
  struct step {
    ticket t;
    std::uint16_t lane;
    std::uint16_t producer;
    std::uint32_t number;
    std::uint32_t depth;
    std::uint64_t random;
    void operator()() { t.use().visit(lane, producer, number, depth, random); }
  };

  color color_of(unsigned lane) const {
    return lane < by_value ? color{lane * 1024} : strands_[lane - by_value]->value();
  }

  void note(bool accepted) {
    if (accepted) return;
    not_accepted_.fetch_add(1, std::memory_order_relaxed);
    refused_ = true;
  }

  void send(unsigned lane, unsigned producer, std::uint32_t number, unsigned depth, std::uint64_t random) {
    step event{ticket{*this}, static_cast<std::uint16_t>(lane), static_cast<std::uint16_t>(producer), number, depth,
               random};
    if (lane >= by_value && random % 2 == 0) {
      note(strands_[lane - by_value]->post(std::move(event)));
    } else {
      note(rt_.post(color_of(lane), std::move(event)));
    }
  }

  void produce_batch(unsigned producer, std::mt19937_64& random, std::array<std::uint32_t, lanes>& sent) {
    event_batch batch{rt_};
    const auto count = static_cast<unsigned>(random() % 20);
    for (unsigned n = 0; n < count; ++n) {
      const auto lane = static_cast<unsigned>(random() % lanes);
      batch.add(color_of(lane),
                step{ticket{*this}, static_cast<std::uint16_t>(lane), static_cast<std::uint16_t>(producer),
                     ++sent[lane], static_cast<std::uint32_t>(random() % 3), random()});
    }
    if (random() % 10 == 0) {  // never posted: its numbers are missing, and its events destroyed here
      not_accepted_.fetch_add(count, std::memory_order_relaxed);
    } else if (!rt_.post(std::move(batch))) {
      not_accepted_.fetch_add(count, std::memory_order_relaxed);
      refused_ = true;
    }
  }

  void post_unordered(std::uint64_t random) {
    note(rt_.post(color::unordered, [t = ticket{*this}, random]() mutable {
      program& p = t.use();
      p.free_ran_.fetch_add(1, std::memory_order_relaxed);
      if (random % 4 == 0) p.passing_strand(random / 4);
    }));
  }

  /// A strand that is gone before, while or after its events run; and posts to the color that it had.
  void passing_strand(std::uint64_t random) {
    struct books {
      std::uint32_t last = 0;
      bool inside = false;
    };
    const auto kept = std::make_shared<books>();
    strand s{rt_};
    const color was = s.value();
    const auto note_number = [kept](program& p, std::uint32_t number) {
      if (kept->inside || number != kept->last + 1) p.books_broken_ = true;
      kept->inside = true;
      kept->last = number;
      p.free_ran_.fetch_add(1, std::memory_order_relaxed);
      kept->inside = false;
    };
    const auto count = static_cast<std::uint32_t>(random % 5);
    for (std::uint32_t n = 1; n <= count; ++n) {
      note(s.post([t = ticket{*this}, note_number, n]() mutable { note_number(t.use(), n); }));
      if (refused_) return;
    }
    if (random % 3 == 0) {
      const strand gone{std::move(s)};
    }
    note(rt_.post(was, [t = ticket{*this}, note_number, count]() mutable { note_number(t.use(), count + 1); }));
  }

  void visit(unsigned lane, unsigned producer, std::uint32_t number, unsigned depth, std::uint64_t random) {
    ledger& book = books_[lane];
    book.broken_exclusion = book.broken_exclusion || book.inside != 0 || current_color() != color_of(lane);
    ++book.inside;
    book.broken_order = book.broken_order || number <= book.last[producer];
    book.last[producer] = number;
    ++book.ran;
    if (random % 257 == 0) std::this_thread::yield();
    if (depth != 0) go_on(lane, depth - 1, random);
    --book.inside;
  }

  /// What an event posts: numbered by its lane, which is a producer of its own to each other lane.
  void go_on(unsigned lane, unsigned depth, std::uint64_t random) {
    std::mt19937_64 next{random};
    const auto count = static_cast<unsigned>(next() % 3);
    for (unsigned n = 0; n < count; ++n) {
      const unsigned to = next() % 4 == 0 ? lane : static_cast<unsigned>(next() % lanes);
      send(to, producers + lane, ++sent_by_lane_[lane][to], depth, next());
    }
    if (next() % 16 == 0) post_unordered(next());
    if (next() % 16 == 0) passing_strand(next());
  }

 public:
  /// Of the passing strands.
  [[nodiscard]] bool broken() const { return books_broken_; }

 private:
  std::uint64_t seed_;
  std::atomic<std::uint64_t> made_{0};
  std::atomic<std::uint64_t> dropped_{0};
  std::atomic<std::uint64_t> not_accepted_{0};
  std::atomic<std::uint64_t> free_ran_{0};
  std::atomic<bool> refused_{false};
  std::atomic<bool> books_broken_{false};
  std::array<ledger, lanes> books_{};
  std::array<std::array<std::uint32_t, lanes>, lanes>
      sent_by_lane_{};  ///< row of the lane that sends, touched in its color only
  runtime rt_;
  std::array<std::unique_ptr<strand>, lanes - by_value> strands_{};
};

options random_options(unsigned workers, std::mt19937_64& random) {
  options with;
  with.workers = workers;
  with.batch = std::array<unsigned, 4>{1, 3, 16, 64}[random() % 4];
  with.pin_default_color = random() % 4 == 0;
  with.stealing = random() % 8 != 0;
  with.stall_after = std::chrono::nanoseconds{0};
  return with;
}

/// Runs one program and ends it in one of several ways. Gives the number of events that drain destroyed.
void run_program(unsigned workers, std::uint64_t seed, unsigned events) {
  std::mt19937_64 random{seed};
  program p{random_options(workers, random), seed};
  const std::uint64_t how = random() % 6;
  std::atomic<unsigned> at_work{producers};
  std::vector<std::thread> outside;
  for (unsigned n = 0; n < producers; ++n) {
    outside.emplace_back([&, n] {
      p.produce(n, events);
      if (at_work.fetch_sub(1) == 1 && how < 2) p.rt().stop();
    });
  }
  const auto join = [&] {
    for (std::thread& t : outside) t.join();
  };
  std::size_t destroyed = 0;
  switch (how) {
    case 0:
    case 1:  // until all is done
      EXPECT_EQ(p.rt().run(), 0);
      join();
      break;
    case 2:  // in several runs
      while (at_work.load() != 0) {
        if (random() % 2 == 0) {
          p.rt().run_for(std::chrono::microseconds{random() % 300});
        } else {
          p.rt().run_until_idle();
        }
      }
      join();
      p.rt().run_until_idle();
      break;
    case 3:  // cut short without any time
      p.rt().run_for(std::chrono::microseconds{random() % 2000});
      destroyed = p.rt().drain(std::chrono::nanoseconds{0}).destroyed;
      join();
      break;
    case 4:  // cut short with a little time
      p.rt().run_for(std::chrono::microseconds{random() % 2000});
      destroyed = p.rt().drain(std::chrono::microseconds{random() % 1000}).destroyed;
      join();
      break;
    default:  // stopped by an event in the middle, then drained
      p.rt().post([&rt = p.rt()] { rt.stop(); });
      EXPECT_EQ(p.rt().run(), 0);
      join();
  }
  p.check(destroyed);
  EXPECT_FALSE(p.broken());
}

class random_programs : public test::on_workers {};

TEST_P(random_programs, keep_exclusion_and_order_and_lose_nothing) {
  const std::uint64_t first = test::seed();
  const unsigned programs = test::soak() ? 2000 : 40;
  for (unsigned n = 0; n < programs; ++n) {
    SCOPED_TRACE("program " + std::to_string(n));
    run_program(GetParam(), first + n * 1000, 400);
    if (HasFailure()) break;
  }
}

INSTANTIATE_TEST_SUITE_P(workers, random_programs, testing::ValuesIn(test::worker_counts()), test::worker_name);

}  // namespace
}  // namespace tartan
