// One operation of a direction at a time talks to the system, the others wait behind it: so two reads get the bytes in the order
// in which they were begun. What is done in the descriptor's event goes on as events of its own, but for the last one, which goes
// on in it: a server's usual round trip is one event. It does so only if no event of an earlier one is still on its way (one-line).
#include "io/slot.h"

#include <new>
#include <tartan/core/result.h>
#include <utility>

#include "core/chain_steps.h"
#include "core/runtime_state.h"
#include "core/sched/annotation.h"
#include "core/submit.h"
#include "core/worker.h"
#include "io/service.h"

namespace tartan::detail {

namespace {

/// Operations that one event of a descriptor tries, at most, in each direction: the others come behind the events that wait meanwhile.
constexpr unsigned most_in_one_event = 64;

constexpr unsigned both_ways[] = {static_cast<unsigned>(flow::in), static_cast<unsigned>(flow::out)};

}  // namespace

struct io_slot::events {
  static io_slot& of(event& e) noexcept { return self_in<io_slot>(e); }
  static void run(event& e) { of(e).news(); }
  static void drop(event& e) noexcept { static_cast<void>(of(e).word_.take()); }
  /// The slot, the operation that waits, its coroutine's chain, and the frame of that (looked-at).
  static void ask_ahead(event& e, unsigned step) noexcept {
    const io_slot& slot = of(e);
    if (step == 0) return real_memory::prefetch(&slot);
    const io_wait* const op = slot.first_[0] != nullptr ? slot.first_[0] : slot.first_[1];
    if (op == nullptr) return;
    if (step == 1) return real_memory::prefetch(op);
    const chain* const waiter = op->waiter_;
    if (waiter == nullptr) return;
    if (step == 2) return ask_for_two(waiter);
    if (const void* const frame = chain_steps::frame_of(*waiter)) ask_for_two(frame);
  }
  static void ask_for_two(const void* lines) noexcept {
    real_memory::prefetch(lines);
    real_memory::prefetch(static_cast<const std::byte*>(lines) + 64);
  }
  static constexpr event_ops ops{
      .run = &run, .drop = &drop, .from = origin::io, .pooled = false, .hinted = true, .counted = false, .ask_ahead = &ask_ahead};
};

/// What one event has found to be done. A single operation goes on within the event; several as events of their own, in order.
struct io_slot::finished {
  io_wait* only = nullptr;
  bool several = false;

  /// `first`: nothing of its direction that was done before is still on its way (one-line).
  void add(io_wait& op, bool first) {
    if (only == nullptr && !several && first) [[likely]] {
      only = &op;
      return;
    }
    add_another(op);
  }

  [[gnu::cold, gnu::noinline]] void add_another(io_wait& op) {
    if (only != nullptr) std::exchange(only, nullptr)->complete(false);
    several = true;
    op.complete(false);
  }
};

io_slot::io_slot(io_service& of, std::uint32_t index) noexcept : service_{of}, index_{index} {
  event_.ops = &events::ops;
  event_.site = std::source_location::current();
  ::new (static_cast<void*>(event_.storage)) handler_hints;
  put_self(event_, this);
}

/// The event may be on its way: then who posts or takes it sees the old ones or these.
void io_slot::tell(handler_hints what) noexcept {
  write_whole(hints_in(event_), what);
  is_told_ = what != handler_hints{};
}

/// A callback that has no hints of its own has its descriptor's.
[[gnu::cold, gnu::noinline]] void io_slot::send_told(event& callbacks) const noexcept {
  if (const event_ops* const told = static_cast<const io_callback_ops*>(callbacks.ops)->told; told != nullptr) {
    callbacks.ops = told;
    ::new (static_cast<void*>(callbacks.storage)) handler_hints{told_of_hinted(event_)};
  }
  submit_completion(service_.runtime(), where_, callbacks);
}

void io_slot::open(int descriptor, color where, std::optional<strand>&& own, std::unique_ptr<slot_extra> more,
                   slot_manner how) noexcept {
  descriptor_ = descriptor;
  where_ = where;
  if (own) own_.emplace(std::move(*own));
  extra = std::move(more);
  tryable_[0] = tryable_[1] = true;
  armed_[0] = armed_[1] = false;
  on_their_way_[0] = on_their_way_[1] = 0;
  hung_up_ = false;
  at_end_ = how.then;
  was_blocking_ = how.was_blocking;
  is_watched_ = false;
  output_watched_ = false;
  is_held = true;
  opened_in_ = here != nullptr && here->in_event ? here->site : std::source_location{};
  if (is_told_) tell({});
}

void io_slot::post_event() noexcept { submit_from_worker(service_.runtime(), where_, event_); }

inline void io_slot::note(std::uint32_t bits) noexcept {
  using word = readiness<real_memory>;
  if ((bits & word::hung_up) != 0) hung_up_ = true;
  if ((bits & (word::in | word::hung_up)) != 0) tryable_[index_of(flow::in)] = true;
  if ((bits & (word::out | word::hung_up)) != 0) tryable_[index_of(flow::out)] = true;
}

/// The event: something has changed. The slot may be closed, or open for another descriptor, when a completion returns.
void io_slot::news() {
  service_.runtime().policy().look_ahead(static_cast<const worker&>(*here));
  const std::uint32_t bits = word_.take();
  if (descriptor_ < 0) [[unlikely]] return service_.recycle(*this);  // closed while this was on its way
  note(bits);
  if ((bits & readiness<real_memory>::told) != 0) [[unlikely]] return tell_to_stop();
  finished done;
  for (const unsigned n : both_ways) {
    if (first_[n] != nullptr || (armed_[n] && tryable_[n])) run_line(n, done);
  }
  if (done.only != nullptr) done.only->complete(true);
}

[[gnu::cold]] void io_slot::tell_to_stop() noexcept {
  cancel_all(make_error_code(errc::canceled));
  if (at_end_ == at_end::closes) service_.shut_down(*this);
}

/// Tries what waits in one direction, in order.
[[gnu::noinline]] void io_slot::run_line(unsigned n, finished& done) {
  if (first_[n] == nullptr) [[unlikely]] return disarm(n);
  for (unsigned tried = 0; tried < most_in_one_event; ++tried) {
    io_wait& op = *first_[n];
    if (!tryable_[n] && !(op.looks_first_ && op.needs_no_call())) [[unlikely]] return want(op);
    const io_wait::step now = op.attempt(*this);
    if (now == io_wait::step::done) [[likely]] {
      leave(op);
      done.add(op, on_their_way_[n] == 0);
    } else if (now == io_wait::step::would_block) {
      tryable_[n] = false;
    } else if (now == io_wait::step::elsewhere) {  // who comes behind a canceled one need not wait for that
      return;
    } else {
      return go_on();
    }
    if (first_[n] == nullptr) [[likely]] return;
  }
  go_on();
}

/// There was news that nobody waited for.
[[gnu::cold, gnu::noinline]] void io_slot::disarm(unsigned n) noexcept {
  armed_[n] = false;
  word_.disarm(static_cast<flow>(n));
}

/// Comes back behind the events that wait meanwhile.
void io_slot::go_on() noexcept {
  if (word_.claim_event()) post_event();
}

int io_slot::watch() noexcept {
  if (is_watched_) return 0;
  const int error = service_.system().watch(descriptor_, service_.mark_of(*this));
  is_watched_ = error >= 0;
  return error;
}

/// Most descriptors never wait for room; but a Unix socket's peer makes an edge of output with every message that it reads.
int io_slot::watch_output() noexcept {
  if (output_watched_) return 0;
  const int error = service_.system().watch_output(descriptor_, service_.mark_of(*this));
  output_watched_ = error >= 0;
  return error;
}

/// Somebody waits, or is about to, and the system had nothing.
[[gnu::cold, gnu::noinline]] void io_slot::want(const io_wait& op) noexcept { service_.system().want(descriptor_, op.way_); }

/// From now on an edge posts the event. False: the operation is done meanwhile.
[[gnu::cold, gnu::noinline]] bool io_slot::arm(io_wait& op) noexcept {
  const unsigned n = index_of(op.way_);
  // Before it is armed: the edge that comes at once, if there is something by now, is seen then at the latest (no-edge-lost).
  int error = watch();
  if (error >= 0 && op.way_ == flow::out) error = watch_output();
  if (error < 0) {
    tryable_[n] = true;  // no edge will tell: the next one has to ask the system
    op.ends_with(system_error(error));
    return false;
  }
  while (!armed_[n]) {
    const std::uint32_t missed = word_.arm(op.way_);
    armed_[n] = true;
    if (missed == 0) break;
    note(missed);  // no-edge-lost
    if (first_[n] != nullptr) continue;
    const io_wait::step now = op.attempt(*this);
    if (now == io_wait::step::done) return false;
    if (now == io_wait::step::goes_on) go_on();
    if (now == io_wait::step::would_block) exhausted(op.way_);
  }
  if (service_.system().tells_levels()) {
    armed_[n] = false;  // each wait comes here
    if (!tryable_[n]) want(op);
  }
  return true;
}

inline bool io_slot::wait(io_wait& op) noexcept {
  const unsigned n = index_of(op.way_);
  if (!armed_[n] && !arm(op)) [[unlikely]] return false;
  op.next_ = nullptr;
  op.previous_ = nullptr;
  if (first_[n] == nullptr) {
    first_[n] = &op;
  } else {
    if (behind_[n] == most_behind) {
      op.ends_with(make_error_code(errc::busy));
      return false;
    }
    ++behind_[n];
    op.previous_ = first_[n]->next_ == nullptr ? first_[n] : last_[n];
    op.previous_->next_ = &op;
    last_[n] = &op;
  }
  op.in_line_ = true;
  service_.runtime().waits_changed(1);
  return true;
}

inline void io_slot::leave(io_wait& op) noexcept {
  const unsigned n = index_of(op.way_);
  (op.previous_ != nullptr ? op.previous_->next_ : first_[n]) = op.next_;
  if (op.next_ != nullptr) {
    op.next_->previous_ = op.previous_;
    --behind_[n];
  } else if (op.previous_ != nullptr) {
    last_[n] = op.previous_;
    --behind_[n];
  }
  op.in_line_ = false;
  service_.runtime().waits_changed(-1);
}

void io_slot::cancel_all(std::error_code error) noexcept {
  for (io_wait*& first : first_) {
    while (first != nullptr) {
      io_wait& op = *first;
      leave(op);
      op.ends_with(error);
      op.complete(false);
    }
  }
}

int io_slot::shut() noexcept {
  const int was = std::exchange(descriptor_, -1);
  const bool event_queued = word_.reopen();
  cancel_all(make_error_code(errc::closed));
  own_.reset();  // what was posted to it still runs
  extra.reset();
  if (!event_queued) service_.recycle(*this);
  return was;
}

std::size_t io_slot::drop_all() noexcept {
  std::size_t dropped = 0;
  for (io_wait*& first : first_) {
    while (first != nullptr) {
      io_wait& op = *first;
      leave(op);
      const std::source_location* const site = op.callback_site();
      if (site == nullptr) continue;  // a coroutine's, which the registry destroys
      service_.runtime().destroyed().add(work_kind::operation, *site);
      op.drop();
      ++dropped;
    }
  }
  return dropped;
}

void io_slot::tell_stop() noexcept {
  if (descriptor_ >= 0 && word_.set(word_.generation(), readiness<real_memory>::told)) post_event();
}

[[gnu::cold, gnu::noinline]] bool io_slot::refuses_waits() const noexcept {
  return at_end_ != at_end::goes_on || service_.runtime().stopping();
}

/// Whether what it was begun on is still open.
inline bool io_wait::is_current() const noexcept { return slot_ != nullptr && slot_->is_open(generation_); }

/// What it was begun on is still open.
[[gnu::always_inline]] inline io_wait::step io_wait::try_now(bool canceled, color caller, std::source_location site) noexcept {
  io_slot& slot = *slot_;
  if (caller != slot.where() || here->owner != &slot.service().runtime()) [[unlikely]] wrong_color(slot, caller, site);
  if (canceled) [[unlikely]] return fail(make_error_code(errc::canceled));
  if (!slot.nobody_waits(way_) || (!slot.may_try(way_) && !(looks_first_ && needs_no_call()))) return step::would_block;
  const step now = attempt(slot);
  if (now == step::would_block) [[unlikely]] slot.exhausted(way_);
  return now;
}

/// It could not be tried, or that was not enough. True: it is done meanwhile.
inline bool io_wait::begin_to_wait(step now) noexcept {
  if (slot_->service().runtime().closing() && slot_->refuses_waits()) [[unlikely]] {
    ends_with(make_error_code(errc::canceled));
    return true;
  }
  if (now == step::goes_on) [[unlikely]] slot_->go_on();
  return !slot_->wait(*this);
}

bool io_wait::begin(color caller, std::source_location site) noexcept {
  if (!here->in_event) [[unlikely]] outside_of_events(site);
  if (!is_current()) [[unlikely]] {
    ends_with(make_error_code(errc::closed));
    return true;
  }
  const step now = try_now(false, caller, site);
  return now == step::done || begin_to_wait(now);
}

bool io_wait::suspend(std::coroutine_handle<> self, chain& waiter) noexcept {
  waiter_ = &waiter;
  if (!is_current()) [[unlikely]] {
    ends_with(make_error_code(errc::closed));
    return waiter.at_once(self);
  }
  const step now = try_now(chain_steps::cancel_requested(waiter), waiter.where(), waiter.site());
  if (now != step::done) return suspend_in_line(self, now);
  if (is_first() && chain_steps::take_inline()) [[likely]] return false;
  return suspend_on_its_way(self);
}

[[gnu::noinline]] bool io_wait::suspend_in_line(std::coroutine_handle<> self, step now) noexcept {
  if (!begin_to_wait(now)) [[likely]] return chain_steps::wait(*waiter_, self, *this);
  return !(is_first() && chain_steps::take_inline()) && suspend_on_its_way(self);
}

[[gnu::cold, gnu::noinline]] bool io_wait::suspend_on_its_way(std::coroutine_handle<> self) noexcept {
  sent();
  waiter_->to_back(self);
  return true;
}

/// one-line: whether nothing of its direction that was done before is still on its way, so that it may go on without an event.
inline bool io_wait::is_first() const noexcept { return slot_->on_their_way(way_) == 0; }

/// one-line: an operation counts while it is on its way in an event of its own. What goes on within the event that it was done in does
/// not, unless what is to cancel it is on its way: then that is what resumes it.
void io_wait::complete(bool last) {
  if (waiter_ == nullptr) return call_back(last);
  if (!last) {
    sent();
    return waiter_->complete();
  }
  if (!chain_steps::complete(*waiter_)) [[unlikely]] return sent();
  stands_at(waiter_->site());
  chain_steps::run(*waiter_);
}

void stands_at(std::source_location site) noexcept {
  write_whole(here->site, site);
}

void io_wait::sent() noexcept {
  if (!is_current()) return;
  sent_ = true;
  ++slot_->on_their_way(way_);
}

void io_wait::send(runtime_state& rt, color where, event& own, io_wait& self) noexcept {
  if (self.is_current()) [[likely]] {
    self.sent_ = true;
    io_slot& slot = *self.slot_;
    ++slot.on_their_way(self.way_);
    if (slot.is_told()) [[unlikely]] return slot.send_told(own);
  }
  submit_completion(rt, where, own);
}

void io_wait::uncount() noexcept {
  sent_ = false;
  if (slot_->is_open(generation_)) --slot_->on_their_way(way_);
}

bool io_wait::cancel() noexcept {
  if (!in_line_) return false;
  io_slot& slot = *slot_;
  const bool was_first = previous_ == nullptr;
  slot.leave(*this);
  // Those behind it need not wait for what it has waited for: nor even for an edge, if the next one finds what it wants without a call.
  if (was_first && !slot.nobody_waits(way_)) slot.go_on();
  ends_with(make_error_code(errc::canceled));
  return true;
}

}  // namespace tartan::detail
