#include "tests/io_failures/scenario.h"

#include <algorithm>
#include <string>

#include "tests/workers.h"

namespace tartan::test {

namespace {

/// Calls of one kind in a scenario, at most: if a failing call is made again and again, the test ends.
constexpr unsigned most_calls = 200;

void run_once(const scenario& play, told& errors, unsigned workers, const std::string& scheduler) {
  options with;
  with.workers = workers;
  with.stall_after = {};
  with.scheduler = scheduler;
  runtime rt{with};
  play(rt, errors);
  rt.run_until_idle();
}

bool is_as_expected(const told& errors, const failure& one) {
  switch (one.expected) {
    case outcome::told:
      return errors.of(one.error);
    case outcome::noticed:
      return !errors.nothing();
    case outcome::retried:
      return errors.nothing();
  }
  return false;
}

}  // namespace

bool told::of(int error) const {
  return std::any_of(errors_.begin(), errors_.end(), [error](std::error_code each) { return each == std::error_code{error, std::system_category()}; });
}

std::string told::text() const {
  std::string all;
  for (const std::error_code& each : errors_) all += (all.empty() ? "" : ", ") + each.message();
  return all.empty() ? "nothing" : all;
}

void fails_everywhere(const scenario& play, const std::vector<failure>& failures, const std::string& scheduler) {
  for (const unsigned workers : {1u, 2u}) {
    told none;
    run_once(play, none, workers, scheduler);
    ASSERT_TRUE(none.nothing()) << "without any failure: " << none.text();
    const std::size_t descriptors = open_descriptors();
    for (const failure& each : failures) {
      const std::string name = std::string{name_of(each.which)} + ", " + std::error_code{each.error, std::system_category()}.message();
      unsigned strikes = 0;
      for (unsigned n = 0; n < std::min(most_calls, each.places); ++n) {
        SCOPED_TRACE(name + ", after " + std::to_string(n) + " calls, " + std::to_string(workers) + " workers");
        told errors;
        bool struck = false;
        {
          const failing_call fails{each.which, each.error, n, 1, strikes::but_wakes};
          run_once(play, errors, workers, scheduler);
          struck = fails.struck();
        }
        EXPECT_EQ(open_descriptors(), descriptors);
        if (!struck) break;
        ++strikes;
        EXPECT_TRUE(is_as_expected(errors, each)) << "told of " << errors.text();
        if (testing::Test::HasFailure()) return;
      }
      EXPECT_NE(strikes, 0u) << name << ": is not called";
      EXPECT_LT(strikes, most_calls) << name << ": is called without end";
    }
  }
}

}  // namespace tartan::test
