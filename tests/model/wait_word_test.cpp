// A waiting coroutine, who completes its operation and who cancels it; docs/design/cancellation.md.

#include "core/wait_word.h"

#include <gtest/gtest.h>

#include "core/join_word.h"
#include "model_memory.h"
#include "program.h"
#include "weakened_memory.h"

namespace tartan::model {
namespace {

using detail::wait_duty;

enum event_kind : unsigned { nothing = 0, resumes = 1, cancels = 2 };

// A chain that waits for one operation after the other. Its one event is a word: what was posted, until its color runs it.
template <class Memory>
struct one_chain {
  static constexpr int most = 2;

  detail::wait_word<Memory> word;
  typename Memory::template atomic<unsigned> posted{nothing, "the chain's event"};
  model_atomic<int> begun{0, "operations begun"};
  typename Memory::template atomic<bool> claimed[most];
  model_plain<int> outcome[most];
  model_plain<int> handle{0, "handle"};
  ghost<int> completed{0, "operations completed"};
  ghost<int> withdrawn{0, "operations withdrawn"};
  bool can_withdraw = true;
  int waits = 1;

  void post(event_kind what) {
    // As submit: what happened before is visible to the event, whatever the memory under test.
    check(posted.exchange(what, std::memory_order_acq_rel) == nothing, "one-event: posted while it was on its way");
  }

  // --- the color ---
  bool withdraw(int op) {
    if (!can_withdraw || claimed[op].exchange(true, std::memory_order_acq_rel)) return false;
    withdrawn = withdrawn + 1;
    return true;
  }
  void go_on(int op, bool was_withdrawn) {
    check(handle == op + 1, "resumed in the wait that ended");
    if (!was_withdrawn) check(outcome[op] == op + 10, "the outcome is there");
  }
  void wait_for(int op) {
    begun.store(op + 1, std::memory_order_release);  // pairs with complete
    handle = op + 1;
    wait_duty duty = word.wait(false);
    if (duty == wait_duty::withdraw) {
      if (withdraw(op)) return go_on(op, true);
      duty = word.wait(true);
    }
    if (duty == wait_duty::completed) return go_on(op, false);
    check(duty == wait_duty::suspended, "wait owes nothing else");
    while (!run_event(op)) {
    }
  }
  /// Gives whether the coroutine goes on.
  bool run_event(int op) {
    unsigned what = nothing;
    while ((what = posted.load(std::memory_order_acquire)) == nothing) model_memory::pause();  // pairs with post
    posted.store(nothing, std::memory_order_relaxed);
    if (what == resumes) {
      go_on(op, false);
      return true;
    }
    const bool gone = withdraw(op);
    if (word.end_cancel(gone) != wait_duty::resume) return false;
    go_on(op, gone);
    return true;
  }
  void run() {
    for (int op = 0; op < waits; ++op) wait_for(op);
  }

  // --- others ---
  void complete(int op) {
    while (begun.load(std::memory_order_acquire) <= op) model_memory::pause();  // pairs with wait_for
    if (can_withdraw && claimed[op].exchange(true, std::memory_order_acq_rel)) return;
    outcome[op] = op + 10;
    completed = completed + 1;
    if (word.complete() == wait_duty::resume) post(resumes);
  }
  void cancel() {
    if (word.cancel() == wait_duty::cancel) post(cancels);
  }
};

template <class Memory>
result completed_and_canceled(const options& bounds, bool can_withdraw, int waits, int cancelers) {
  return explore(bounds, [=](program& p) {
    auto* c = p.make<one_chain<Memory>>();
    c->can_withdraw = can_withdraw;
    c->waits = waits;
    p.thread("color", [=] { c->run(); });
    p.thread("completer", [=] {
      for (int op = 0; op < waits; ++op) c->complete(op);
    });
    for (int n = 0; n < cancelers; ++n) {
      p.thread(n == 0 ? "canceler" : "second canceler", [=] { c->cancel(); });
    }
    p.finally([=] {
      check(c->completed + c->withdrawn == waits, "each operation ends once");
      check(cancelers == 0 || c->word.cancel_requested(), "a request stays");
    });
  });
}

TEST(wait_word, resumes_once_however_the_end_and_a_request_meet) {
  const result found = completed_and_canceled<model_memory>({.name = "wait_word"}, true, 1, 1);
  EXPECT_TRUE(found.proved()) << found.report;
}

TEST(wait_word, resumes_once_if_the_operation_cannot_be_withdrawn) {
  const result found = completed_and_canceled<model_memory>({.name = "wait_word_firm"}, false, 1, 1);
  EXPECT_TRUE(found.proved()) << found.report;
}

TEST(wait_word, resumes_once_in_each_of_two_waits) {
  const result found = completed_and_canceled<model_memory>({.name = "wait_word_twice"}, true, 2, 1);
  EXPECT_TRUE(found.proved()) << found.report;
}

TEST(wait_word, is_not_touched_by_who_completed_it_once_the_coroutine_may_go_on) {
  const result found = explore({.name = "wait_word_gone"}, [](program& p) {
    auto* known = p.make<model_atomic<one_chain<model_memory>*>>(nullptr, "the chain");
    p.thread("color", [=] {
      auto* c = make<one_chain<model_memory>>();
      c->can_withdraw = false;
      known->store(c, std::memory_order_release);  // pairs with the completer's load
      c->run();
      destroy(c);
    });
    p.thread("completer", [=] {
      one_chain<model_memory>* c = nullptr;
      while ((c = known->load(std::memory_order_acquire)) == nullptr) model_memory::pause();  // pairs with the color's store
      c->complete(0);
    });
  });
  EXPECT_TRUE(found.proved()) << found.report;
}

TEST(wait_word, takes_one_request_of_two) {
  const result found = completed_and_canceled<model_memory>({.name = "wait_word_two_requests"}, true, 1, 2);
  EXPECT_TRUE(found.proved()) << found.report;
}

TEST(wait_word, withstands_compare_exchange_that_fails_for_no_reason) {
  const result found = completed_and_canceled<model_memory>({.name = "wait_word_spurious", .spurious_failures = 2}, true, 1, 1);
  EXPECT_TRUE(found.proved()) << found.report;
}

TEST(wait_word, needs_its_orders) {
  EXPECT_FALSE(completed_and_canceled<without_order>({.name = "wait_word_relaxed"}, true, 1, 1).passed);
}

// --- join_word -------------------------------------------------------------------------------------------------------

template <class Memory>
struct one_root {
  struct joiner {
    model_atomic<int> completed{0, "joiner completed"};
  };
  detail::join_word<Memory, joiner> word;
  joiner who;
  model_plain<int> outcome{0, "outcome"};
  ghost<int> used{0, "outcomes used"};

  void use() {
    check(outcome == 7, "the outcome is there");
    used = used + 1;
  }
  void end() {
    outcome = 7;
    const auto [what, waits] = word.end();
    if (what == detail::end_met::nobody) use();
    if (what == detail::end_met::a_joiner) waits->completed.store(1, std::memory_order_release);  // pairs with join
  }
  void join() {
    using join_result = typename detail::join_word<Memory, joiner>::join_result;
    const auto found = word.join(who);
    check(found != join_result::twice, "joined once");
    if (found == join_result::waits) {
      while (who.completed.load(std::memory_order_acquire) == 0) model_memory::pause();  // pairs with end
    }
    use();
    check(!word.drop(), "what was joined is nobody else's");
  }
  void drop() {
    if (word.drop()) use();
  }
};

template <class Memory>
result ended_and(const options& bounds, void (one_root<Memory>::*what)()) {
  return explore(bounds, [=](program& p) {
    auto* r = p.make<one_root<Memory>>();
    p.thread("coroutine", [=] { r->end(); });
    p.thread("handle", [=] { (r->*what)(); });
    p.finally([=] { check(r->used == 1, "the outcome is used once"); });
  });
}

TEST(join_word, gives_the_outcome_to_the_joiner) {
  const result found = ended_and<model_memory>({.name = "join_word"}, &one_root<model_memory>::join);
  EXPECT_TRUE(found.proved()) << found.report;
}

TEST(join_word, gives_the_outcome_to_one_of_the_two_when_the_handle_is_dropped) {
  const result found = ended_and<model_memory>({.name = "join_word_drop"}, &one_root<model_memory>::drop);
  EXPECT_TRUE(found.proved()) << found.report;
}

TEST(join_word, needs_its_orders) {
  EXPECT_FALSE(ended_and<without_order>({.name = "join_word_relaxed"}, &one_root<without_order>::drop).passed);
}

}  // namespace
}  // namespace tartan::model
