// One operation of a direction at a time talks to the system, the others wait behind it: so two reads get the bytes in the order
// in which they were begun. What is done in the descriptor's event goes on as events of its own, but for the last one, which goes
// on in it: a server's usual round trip is one event. It does so only if no event of an earlier one is still on its way (one-line).
#include "io/slot.h"

#include <new>
#include <tartan/core/result.h>
#include <utility>

#include "core/fatal.h"
#include "core/runtime_state.h"
#include "io/service.h"

namespace tartan::detail {

namespace {

constexpr flow both_ways[] = {flow::in, flow::out};

}  // namespace

struct io_slot::events {
  static io_slot& of(event& e) noexcept { return **std::launder(reinterpret_cast<io_slot**>(e.storage)); }
  static void run(event& e) { of(e).news(e); }
  static void drop(event& e) noexcept { static_cast<void>(of(e).word_.take()); }
  static constexpr event_ops ops{.run = &run, .drop = &drop, .from = origin::io, .pooled = false, .counted = false};
};

/// What one event has found to be done. A single operation goes on within the event; several as events of their own, in order.
struct io_slot::finished {
  io_wait* only = nullptr;
  bool several = false;

  void add(io_wait& op) {
    if (only == nullptr && !several && op.is_first()) {
      only = &op;
      return;
    }
    if (only != nullptr) std::exchange(only, nullptr)->complete(false);
    several = true;
    op.complete(false);
  }
};

io_slot::io_slot(io_service& of, std::uint32_t index) noexcept : service_{of}, index_{index} {
  event_.ops = &events::ops;
  event_.site = std::source_location::current();
  ::new (static_cast<void*>(event_.storage)) io_slot*(this);
}

void io_slot::open(int descriptor, color where, std::optional<strand>&& own, std::unique_ptr<slot_extra> more, bool closes_at_stop) noexcept {
  descriptor_ = descriptor;
  where_ = where;
  if (own) own_.emplace(std::move(*own));
  extra = std::move(more);
  tryable_[0] = tryable_[1] = true;
  armed_[0] = armed_[1] = false;
  on_their_way_[0] = on_their_way_[1] = 0;
  hung_up_ = false;
  closes_at_stop_ = closes_at_stop;
  output_watched_ = false;
}

void io_slot::post_event() noexcept { static_cast<void>(submit_completion(service_.runtime(), where_, event_)); }

bool io_slot::ready(std::uint32_t generation, std::uint32_t bits) noexcept {
  if (!word_.set(generation, bits)) return false;
  post_event();
  return true;
}

void io_slot::note(std::uint32_t bits) noexcept {
  using word = readiness<real_memory>;
  if ((bits & word::hung_up) != 0) hung_up_ = true;
  if ((bits & (word::in | word::hung_up)) != 0) tryable_[index_of(flow::in)] = true;
  if ((bits & (word::out | word::hung_up)) != 0) tryable_[index_of(flow::out)] = true;
}

/// The event: something has changed. The slot may be closed, or open for another descriptor, when a completion returns.
void io_slot::news(event& /*e*/) {
  const std::uint32_t bits = word_.take();
  if (descriptor_ < 0) return service_.recycle(*this);  // closed while this was on its way
  note(bits);
  if ((bits & readiness<real_memory>::told) != 0) {
    if (closes_at_stop_) return service_.close(*this);
    return cancel_all(make_error_code(errc::canceled));
  }
  finished done;
  for (const flow way : both_ways) run_line(way, done);
  if (done.only != nullptr) done.only->complete(true);
}

/// Tries what waits in one direction, in order.
void io_slot::run_line(flow way, finished& done) {
  const unsigned n = index_of(way);
  line& waiting = lines_[n];
  if (waiting.first == nullptr && armed_[n] && tryable_[n]) {  // news that nobody waited for
    armed_[n] = false;
    word_.disarm(way);
  }
  while (waiting.first != nullptr && (tryable_[n] || waiting.first->needs_no_call())) {
    io_wait& op = *waiting.first;
    switch (op.attempt(*this)) {
      case io_wait::step::done:
        leave(op);
        done.add(op);
        break;
      case io_wait::step::would_block:
        exhausted(way);
        break;
      case io_wait::step::elsewhere:  // who comes behind a canceled one need not wait for that
        return;
      case io_wait::step::goes_on:
        return go_on();
    }
  }
}

/// Comes back behind the events that wait meanwhile.
void io_slot::go_on() noexcept {
  if (word_.claim_event()) post_event();
}

/// Most descriptors never wait for room; but a Unix socket's peer makes an edge of output with every message that it reads.
int io_slot::watch_output() noexcept {
  if (output_watched_) return 0;
  output_watched_ = true;
  return service_.system().watch_output(descriptor_, service_.mark_of(*this));
}

bool io_slot::wait(io_wait& op) noexcept {
  const unsigned n = index_of(op.way_);
  // Before it is armed: the edge that comes at once, if there is room by now, is seen then at the latest (no-edge-lost).
  if (const int error = op.way_ == flow::out ? watch_output() : 0; error < 0) {
    output_watched_ = false;
    op.error_ = system_error(error);
    return false;
  }
  line& waiting = lines_[n];
  while (!armed_[n]) {
    const std::uint32_t missed = word_.arm(op.way_);
    armed_[n] = true;
    if (missed == 0) break;
    note(missed);  // no-edge-lost
    if (waiting.first != nullptr) continue;
    const io_wait::step now = op.attempt(*this);
    if (now == io_wait::step::done) return false;
    if (now == io_wait::step::goes_on) go_on();
    if (now == io_wait::step::would_block) exhausted(op.way_);
  }
  op.next_ = nullptr;
  op.previous_ = waiting.last;
  (waiting.last != nullptr ? waiting.last->next_ : waiting.first) = &op;
  waiting.last = &op;
  op.in_line_ = true;
  service_.waits(1);
  return true;
}

void io_slot::leave(io_wait& op) noexcept {
  line& waiting = lines_[index_of(op.way_)];
  (op.previous_ != nullptr ? op.previous_->next_ : waiting.first) = op.next_;
  (op.next_ != nullptr ? op.next_->previous_ : waiting.last) = op.previous_;
  op.in_line_ = false;
  service_.waits(-1);
}

void io_slot::cancel_all(std::error_code error) noexcept {
  for (line& each : lines_) {
    while (each.first != nullptr) {
      io_wait& op = *each.first;
      leave(op);
      op.error_ = error;
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
  for (line& each : lines_) {
    while (each.first != nullptr) {
      io_wait& op = *each.first;
      leave(op);
      dropped += op.drop() ? 1 : 0;
    }
  }
  return dropped;
}

void io_slot::tell_stop() noexcept {
  if (descriptor_ >= 0 && word_.set(word_.generation(), readiness<real_memory>::told)) post_event();
}

bool io_wait::begin(color caller, bool canceled, std::source_location site) noexcept {
  if (on_.slot == nullptr || !on_.slot->is_open(on_.generation)) {
    error_ = make_error_code(errc::closed);
    return true;
  }
  io_slot& slot = *on_.slot;
  if (caller != slot.where()) wrong_color(slot, caller, site);
  if (canceled) {
    error_ = make_error_code(errc::canceled);
    return true;
  }
  step now = step::would_block;
  if (slot.nobody_waits(way_) && (slot.may_try(way_) || needs_no_call())) {
    now = attempt(slot);
    if (now == step::done) return true;
    if (now == step::would_block) slot.exhausted(way_);
  }
  if (slot.service().runtime().stopping()) {
    error_ = make_error_code(errc::canceled);
    return true;
  }
  if (now == step::goes_on) slot.go_on();
  return !slot.wait(*this);
}

bool io_wait::is_first() const noexcept {
  return on_.slot == nullptr || !on_.slot->is_open(on_.generation) || on_.slot->on_their_way(way_) == 0;
}

void io_wait::sent() noexcept {
  if (on_.slot == nullptr || !on_.slot->is_open(on_.generation)) return;
  sent_ = true;
  ++on_.slot->on_their_way(way_);
}

void io_wait::uncount() noexcept {
  sent_ = false;
  if (on_.slot->is_open(on_.generation)) --on_.slot->on_their_way(way_);
}

bool io_wait::cancel() noexcept {
  if (!in_line_) return false;
  io_slot& slot = *on_.slot;
  const bool was_first = previous_ == nullptr;
  slot.leave(*this);
  // Those behind it need not wait for what it has waited for.
  if (was_first && !slot.nobody_waits(way_) && slot.may_try(way_)) slot.go_on();
  error_ = make_error_code(errc::canceled);
  return true;
}

}  // namespace tartan::detail
