// Random small programs: the outcomes that the explorer reaches are compared with those that the axioms allow, and with its own
// when it merges no states.

#include "axioms.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "model_memory.h"
#include "program.h"

namespace tartan::model {
namespace {

constexpr unsigned locations = 2;

using enum std::memory_order;

struct machine {
  std::array<model_atomic<int>, locations> words;
  std::vector<std::vector<int>> read;  // each thread writes its own; only looked at when all have ended
};

void run(machine& m, const std::vector<instruction>& code, std::vector<int>& read) {
  for (const instruction& each : code) {
    auto& word = m.words[each.location];
    switch (each.what) {
      case instruction::kind::load:
        read.push_back(word.load(each.order));
        break;
      case instruction::kind::store:
        word.store(each.value, each.order);
        break;
      case instruction::kind::exchange:
        read.push_back(word.exchange(each.value, each.order));
        break;
      case instruction::kind::full_barrier:
        model_memory::full_barrier();
        break;
      case instruction::kind::heavy_barrier:
        model_memory::heavy_barrier();
        break;
    }
  }
}

std::set<outcome_values> reached_outcomes(const straight_program& code, bool merge_states) {
  std::set<outcome_values> reached;
  explorer engine{{.name = "random", .print = false, .merge_states = merge_states}, [&](program& p) {
                    auto* m = p.make<machine>();
                    m->read.resize(code.size());
                    for (std::size_t thread = 0; thread < code.size(); ++thread) {
                      p.thread("T" + std::to_string(thread + 1),
                               [m, &code, thread] { run(*m, code[thread], m->read[thread]); });
                    }
                    p.finally([m, &reached] {
                      outcome_values values;
                      for (const auto& each : m->read) {
                        values.insert(values.end(), each.begin(), each.end());
                      }
                      for (const auto& word : m->words) {
                        values.push_back(word.load(relaxed));
                      }
                      reached.insert(values);
                    });
                  }};
  const result found = engine.run();
  EXPECT_TRUE(found.proved()) << found.report;
  return reached;
}

class generator {
 public:
  explicit generator(std::uint32_t seed, bool heavy_barriers = false)
      : random_{seed}, heavy_barriers_{heavy_barriers} {}

  straight_program next() {
    straight_program code(pick(2) == 0 ? 2 : 3);
    int value = 1;
    for (auto& thread : code) {
      for (unsigned left = code.size() == 2 ? 2 + pick(3) : 1 + pick(3); left > 0; --left) {
        thread.push_back(one(value++));
      }
    }
    return code;
  }

 private:
  unsigned pick(unsigned count) { return static_cast<unsigned>(random_() % count); }
  std::memory_order one_of(std::vector<std::memory_order> orders) {
    orders.push_back(seq_cst);
    return orders[pick(static_cast<unsigned>(orders.size()))];
  }
  instruction one(int value) {
    using enum instruction::kind;
    switch (pick(8)) {
      case 0:
        return {heavy_barriers_ ? heavy_barrier : full_barrier, 0, seq_cst, value};
      case 1:
        return {exchange, pick(locations), one_of({relaxed, acquire, release, acq_rel}), value};
      case 2:
      case 3:
      case 4:
        return {load, pick(locations), one_of({relaxed, acquire}), value};
      default:
        return {store, pick(locations), one_of({relaxed, release}), value};
    }
  }

  std::mt19937 random_;
  bool heavy_barriers_;
};

std::uint32_t seed() {
  const char* wanted = std::getenv("TARTAN_TEST_SEED");
  const std::uint32_t value =
      wanted != nullptr ? static_cast<std::uint32_t>(std::strtoul(wanted, nullptr, 10)) : std::random_device{}();
  std::printf("[ seed     ] TARTAN_TEST_SEED=%u\n", value);
  return value;
}

std::string text_of(const straight_program& code) {
  static const char* const kinds[] = {"load", "store", "exchange", "full_barrier", "heavy_barrier"};
  static const char* const orders[] = {"relaxed", "consume", "acquire", "release", "acq_rel", "seq_cst"};
  std::string text;
  for (const auto& thread : code) {
    text += "thread:";
    for (const auto& each : thread) {
      text += std::string{" "} + kinds[static_cast<int>(each.what)] + " " + "xy"[each.location] + " " +
              orders[static_cast<int>(each.order)] + " " + std::to_string(each.value) + ";";
    }
    text += "\n";
  }
  return text;
}

std::string text_of(const std::set<outcome_values>& some, const std::set<outcome_values>& but_not) {
  std::string text;
  for (const auto& values : some) {
    if (!but_not.contains(values)) {
      for (const int value : values) {
        text += std::to_string(value) + " ";
      }
      text += "\n";
    }
  }
  return text;
}

constexpr int programs = 1000;

TEST(explorer_against_axioms, reaches_exactly_the_allowed_outcomes) {
  generator make{seed()};
  std::size_t outcomes = 0;
  for (int turn = 0; turn < programs; ++turn) {
    const straight_program code = make.next();
    const auto reached = reached_outcomes(code, true);
    const auto allowed = allowed_outcomes(code, locations);
    ASSERT_EQ(text_of(reached, allowed), "") << "reached, not allowed\n" << text_of(code);
    ASSERT_EQ(text_of(allowed, reached), "") << "allowed, not reached\n" << text_of(code);
    outcomes += reached.size();
  }
  std::printf("[ model    ] %d random programs, %zu outcomes, all the same\n", programs, outcomes);
}

TEST(merging_of_states, leaves_out_no_outcome) {
  for (const bool heavy_barriers : {false, true}) {
    generator make{seed(), heavy_barriers};
    for (int turn = 0; turn < programs / 10; ++turn) {
      const straight_program code = make.next();
      ASSERT_EQ(reached_outcomes(code, true), reached_outcomes(code, false)) << text_of(code);
    }
  }
}

}  // namespace
}  // namespace tartan::model
