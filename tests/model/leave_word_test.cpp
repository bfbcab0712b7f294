// A blocking job that ends while its coroutine gives it up; docs/design/cancellation.md, abandoned jobs.

#include "core/leave_word.h"

#include <gtest/gtest.h>

#include "model_memory.h"
#include "program.h"
#include "weakened_memory.h"

namespace tartan::model {
namespace {

// As abandonable_job.
template <class Memory>
struct small_job {
  detail::leave_word<Memory> word;
  model_plain<int> outcome{0, "outcome"};
  ghost<int> destroyed{0, "times destroyed"};
  ghost<int> completed{0, "times completed"};

  void destroy() {
    outcome = 0;  // touches all that it has
    destroyed = destroyed + 1;
  }
  /// As abandonable_job::run.
  void run() {
    if (!word.is_abandoned()) outcome = 4;
    if (word.end()) {
      completed = completed + 1;
    } else {
      destroy();
    }
  }
  /// As abandonable_operation::cancel, and then its end. It has ended: then it will be completed, and destroys it.
  void give_up() {
    if (word.abandon()) return;
    check(outcome == 4, "who finds it ended finds what it has left");
    destroy();
  }
};

template <class Memory>
result ended_and_given_up(const options& bounds) {
  return explore(bounds, [](program& p) {
    auto* const job = p.make<small_job<Memory>>();
    p.thread("blocking thread", [job] { job->run(); });
    p.thread("color", [job] { job->give_up(); });
    p.finally([job] { check(job->destroyed == 1, "last-one-destroys"); });
  });
}

TEST(leave_word, lets_the_second_to_leave_destroy_the_job) {
  const result found = ended_and_given_up<model_memory>({.name = "leave_word"});
  EXPECT_TRUE(found.proved()) << found.report;
}

TEST(leave_word, needs_its_orders) { EXPECT_FALSE(ended_and_given_up<without_order>({.name = "leave_word_relaxed"}).passed); }

}  // namespace
}  // namespace tartan::model
