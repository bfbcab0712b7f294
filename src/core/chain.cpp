// A coroutine needs an event each time it is resumed. One per suspension would have to be allocated, and may fail; one in every
// frame would add a cache line to each. But of a coroutine and those that it awaits only the innermost can be suspended, so one
// event serves them all: it is the chain's. The same event also brings a request to cancel, so that a chain that is still
// to be canceled cannot end before: docs/design/cancellation.md.

#include <tartan/core/chain.h>

#include <new>
#include <utility>

#include "core/chain_steps.h"
#include "core/guest.h"
#include "core/lifecycle.h"
#include "core/runtime_state.h"
#include "core/sched/policy.h"
#include "core/strand_color.h"

namespace tartan::detail {

namespace {

using steps = chain_steps;

/// A color that no strand has.
color color_of_its_own(const void* chain) noexcept {
  constexpr std::uint64_t anonymous = strand_color::bit | strand_color::of_a_coroutine;
  return raw_color::make(anonymous | (reinterpret_cast<std::uintptr_t>(chain) >> 6));
}

}  // namespace

/// What the chain's event does.
struct chain::events {
  static void resume(event& e) {
    chain& c = of(e);
    c.run(c.handle_);
  }
  static void cancel(event& e) {
    chain& c = of(e);
    const bool withdrawn = c.operation_->cancel();
    if (steps::word_of(c).end_cancel(withdrawn) == wait_duty::resume) c.run(c.handle_);
  }
  static void visit(event& e) {
    chain& c = of(e);
    c.operation_->visit();
    c.resume();
  }
  static constexpr event_ops resume_ops{.run = &resume, .drop = &drop_event, .pooled = false, .hinted = true, .counted = false};
  static constexpr event_ops cancel_ops{.run = &cancel, .drop = &drop_event, .pooled = false, .hinted = true, .counted = false};
  static constexpr event_ops visit_ops{.run = &visit, .drop = &drop_event, .pooled = false, .hinted = true, .counted = false};
};

chain::chain() noexcept {
  static_assert(sizeof(steps::word) == sizeof(word_) && alignof(steps::word) <= 4);
  ::new (static_cast<void*>(word_)) steps::word;
  ::new (static_cast<void*>(event_.storage)) stored{{}, this};
}

chain::chain(runtime_state& rt, color where, std::source_location site) noexcept : chain{} { open(rt, where, site); }

void chain::open(runtime_state& rt, color where, std::source_location site) noexcept {
  rt_ = &rt;
  set_color(where);
  event_.site = site;
}

void chain::set_color(color to) noexcept { where_ = to == color::unordered ? color_of_its_own(this) : to; }

bool chain::post(const event_ops& ops) noexcept {
  event_.ops = &ops;
  return submit_completion(*rt_, where_, event_);
}

void chain::post_admitted(const event_ops& ops) noexcept {
  event_.ops = &ops;
  rt_->policy().submit(where_, event_, rt_->worker_here());
}

void chain::run(std::coroutine_handle<> self) noexcept {
  turn now;
  turn_ = &now;
  do {
    now.next = {};
    self.resume();
    if (now.ended) return finish();
    self = now.next;
  } while (self);
  // Suspended: the chain may be running elsewhere by now, or gone.
}

std::coroutine_handle<> chain::transfer_by_return(std::coroutine_handle<> to) noexcept {
  turn_->next = to;
  return std::noop_coroutine();
}

std::coroutine_handle<> chain::leave_color(std::coroutine_handle<> awaiter, color awaiter_color) noexcept {
  if (awaiter) {
    move(awaiter, awaiter_color);
  } else {
    turn_->ended = true;
  }
  return std::noop_coroutine();
}

bool chain::wait(std::coroutine_handle<> self, operation& op) noexcept { return steps::wait(*this, self, op); }

bool take_inline() noexcept { return steps::take_inline(); }

bool chain::at_once(std::coroutine_handle<> self) noexcept {
  if (take_inline()) return false;
  to_back(self);
  return true;
}

void chain::to_back(std::coroutine_handle<> self) noexcept {
  handle_ = self;
  resume();
}

void chain::move(std::coroutine_handle<> self, color to) noexcept {
  handle_ = self;
  set_color(to);
  resume();
}

void chain::visit(std::coroutine_handle<> self, color there, operation& op) noexcept {
  handle_ = self;
  operation_ = &op;
  event_.ops = &events::visit_ops;
  submit_completion(*rt_, there, event_);
}

void chain::resume() noexcept { post(events::resume_ops); }

void chain::complete() noexcept {
  if (steps::word_of(*this).complete() == wait_duty::resume) resume();
}

void chain::complete_here() noexcept {
  if (steps::complete(*this)) steps::run(*this);
}

void chain::cancel() noexcept {
  if (rt_ == nullptr) {  // a branch that has not begun: its first wait will find the request
    (void)steps::word_of(*this).cancel(false);
    return;
  }
  if (rt_->worker_here() != nullptr) {
    if (steps::word_of(*this).cancel() == wait_duty::cancel) post(events::cancel_ops);
    return;
  }
  // Without an event to post, not even the runtime need be there.
  if (steps::word_of(*this).cancel(false) != wait_duty::cancel) return;
  const guests::posting in_gate{rt_->guests()};  // or the runtime might end between the claim and the post
  if (rt_->life().over()) return;                // it is destroyed where it waits
  if (steps::word_of(*this).cancel() == wait_duty::cancel) post(events::cancel_ops);
}

operation* chain::waits_in() const noexcept { return steps::word_of(*this).is_waiting() ? operation_ : nullptr; }

bool chain::cancel_requested() const noexcept { return steps::cancel_requested(*this); }

}  // namespace tartan::detail
