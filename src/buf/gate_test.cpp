#include <tartan/buf/gate.h>

#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <tartan/core/post.h>
#include <tartan/core/spawn.h>
#include <vector>

#include "core/coroutine_fixture.h"

namespace tartan::buf {
namespace {

using namespace std::chrono_literals;

constexpr color own{5};

class waiting_at_a_gate : public test::coroutines {
 protected:
  void TearDown() override {
    handles.clear();
    coroutines::TearDown();
  }
  template <class F>
  void in_own(F f) {
    rt().post(own, std::move(f));
    run();
  }
  void wait_for(gate& g, bool ready, const std::string& name) {
    join_handle<> handle = spawn_in(rt(), own, [this, &g, ready, name]() -> task<> {
      const result<> passed = ready ? co_await g.ready() : co_await g.flushed();
      EXPECT_EQ(current_color(), own);
      seen.push_back(name + (passed ? "" : " " + passed.error().message()));
    });
    run();
    handles.push_back(std::move(handle));
  }
  using names = std::vector<std::string>;
  names seen;
  std::vector<join_handle<>> handles;
};
INSTANTIATE_TEST_SUITE_P(on, waiting_at_a_gate, testing::ValuesIn(test::worker_counts()), test::worker_name);

TEST(gate, is_above_high_from_the_high_mark_until_it_has_fallen_to_the_low_one) {
  gate g{{.high_bytes = 10, .low_bytes = 4}};
  g.enter(10);
  EXPECT_FALSE(g.above_high());
  g.enter(1);
  EXPECT_TRUE(g.above_high());
  g.leave(6);
  EXPECT_TRUE(g.above_high());
  EXPECT_EQ(g.level(), 5u);
  g.leave(1);
  EXPECT_FALSE(g.above_high());
  g.enter(6);
  EXPECT_FALSE(g.above_high());
}

TEST(gate, refuses_marks_in_the_wrong_order) {
  EXPECT_THROW((gate{{.high_bytes = 1, .low_bytes = 2}}), std::invalid_argument);
}

TEST(gate_death, ends_the_program_when_more_leaves_than_was_there) {
  gate g;
  g.enter(3);
  EXPECT_DEATH(g.leave(4), "tartan: from a gate with 3 bytes were to leave 4");
}

TEST_P(waiting_at_a_gate, ends_when_the_level_has_fallen_to_the_low_mark) {
  gate g{{.high_bytes = 10, .low_bytes = 4}};
  wait_for(g, true, "at once");
  EXPECT_EQ(seen, names{"at once"});
  in_own([&] { g.enter(20); });
  wait_for(g, true, "first");
  wait_for(g, true, "second");
  in_own([&] { g.leave(15); });
  EXPECT_EQ(seen, names{"at once"});
  in_own([&] {
    g.leave(1);
    EXPECT_EQ(seen.size(), 1u) << "not inside of leave";
  });
  EXPECT_EQ(seen, (names{"at once", "first", "second"}));
}

TEST_P(waiting_at_a_gate, ends_when_all_that_had_entered_has_left) {
  gate g;
  wait_for(g, false, "nothing");
  in_own([&] { g.enter(10); });
  wait_for(g, false, "ten");
  in_own([&] { g.enter(5); });
  wait_for(g, false, "fifteen");
  in_own([&] { g.leave(9); });
  EXPECT_EQ(seen, names{"nothing"});
  in_own([&] { g.leave(1); });
  EXPECT_EQ(seen, (names{"nothing", "ten"}));
  in_own([&] { g.leave(5); });
  EXPECT_EQ(seen, (names{"nothing", "ten", "fifteen"}));
}

TEST_P(waiting_at_a_gate, ends_with_the_error_of_the_gate) {
  gate g{{.high_bytes = 1, .low_bytes = 0}};
  in_own([&] { g.enter(2); });
  wait_for(g, true, "ready");
  wait_for(g, false, "flushed");
  in_own([&] { g.fail(errc::end_of_stream); });
  wait_for(g, true, "later");
  const std::string text = " " + make_error_code(errc::end_of_stream).message();
  EXPECT_EQ(seen, (names{"ready" + text, "flushed" + text, "later" + text}));
  EXPECT_EQ(g.level(), 0u);
}

TEST_P(waiting_at_a_gate, ends_as_closed_when_the_gate_is_destroyed) {
  std::optional<gate> g{std::in_place, watermarks{.high_bytes = 1, .low_bytes = 0}};
  in_own([&] { g->enter(2); });
  wait_for(*g, true, "ready");
  in_own([&] { g.reset(); });
  EXPECT_EQ(seen, names{"ready " + make_error_code(errc::closed).message()});
}

TEST_P(waiting_at_a_gate, ends_as_canceled_when_it_is_asked_to_and_leaves_the_others_in_line) {
  gate g{{.high_bytes = 1, .low_bytes = 0}};
  in_own([&] { g.enter(2); });
  for (const char* name : {"first", "second", "third"}) wait_for(g, true, name);
  in_own([&] { handles[1].cancel(); });
  const std::string canceled = "second " + make_error_code(errc::canceled).message();
  EXPECT_EQ(seen, names{canceled});
  in_own([&] { g.leave(2); });
  EXPECT_EQ(seen, (names{canceled, "first", "third"}));
}

TEST_P(waiting_at_a_gate, leaves_the_line_when_its_frame_is_destroyed) {
  gate g{{.high_bytes = 1, .low_bytes = 0}};
  in_own([&] { g.enter(2); });
  wait_for(g, true, "never");
  wait_for(g, false, "never");
  expect_suspended = true;
  handles.clear();
  EXPECT_EQ(rt().drain(0s).destroyed, 2u);
  end_runtime();
  EXPECT_EQ(seen, names{});
}

}  // namespace
}  // namespace tartan::buf
