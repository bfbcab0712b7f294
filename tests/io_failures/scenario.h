#pragma once
/// Small programs that use the system, run again and again with one call failing each time.

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <system_error>
#include <tartan/core/result.h>
#include <tartan/core/runtime.h>
#include <vector>

#include "tests/io_failures/failing_calls.h"

namespace tartan::test {

/// The color of everything in a scenario.
inline constexpr color stage{7};

/// The errors that a scenario's program was told of. Color: the stage, or before and after the run.
class told {
 public:
  /// Whether it went well; else the error is noted.
  template <class Result>
  bool ok(const Result& got) {
    if (!got) errors_.push_back(got.error());
    return static_cast<bool>(got);
  }
  void note(std::error_code error) { errors_.push_back(error); }
  [[nodiscard]] bool nothing() const noexcept { return errors_.empty(); }
  [[nodiscard]] bool of(int error) const;
  [[nodiscard]] std::string text() const;

 private:
  std::vector<std::error_code> errors_;
};

/// What must come of a failure.
enum class outcome {
  told,     ///< somebody gets the error
  noticed,  ///< somebody gets another: a connection was given up on one side
  retried,  ///< nobody notices
};

struct failure {
  call which;
  int error;
  outcome expected;
  unsigned places = ~0u;  ///< at the first ones only
};

using scenario = std::function<void(runtime&, told&)>;

/// Runs the scenario once without a failure, then with each failure at each place where the call is made, and with each number of
/// workers. `scheduler`: as in the options. `ends`: what the scenario does to make sure that it ends is its own affair.
void fails_everywhere(const scenario& play, const std::vector<failure>& failures, const std::string& scheduler = {});

}  // namespace tartan::test
