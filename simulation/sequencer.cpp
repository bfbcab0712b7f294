#include "simulation/sequencer.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace simulation {

namespace {

constexpr std::size_t stack_bytes = std::size_t{1} << 20;

}  // namespace

sequencer* running = nullptr;

arena& memory() noexcept {
  static arena all;
  return all;
}

sequencer::sequencer(const machine& on) : on_{on}, caches_{on, arena::lines} {
  for (unsigned n = 0; n < on.cores; ++n) {
    cores_.push_back(std::make_unique<core>());
    cores_.back()->number = n;
    cores_.back()->hit = on.hit;
    cores_.back()->stack = std::make_unique<std::byte[]>(stack_bytes);
  }
  heap_.reserve(2 * on.cores);
}

void sequencer::prepare(core& c, std::function<void()> body) {
  c.body = std::move(body);
  c.ended = c.entered = c.asleep = false;
  c.locals.reset();
}

/// The first thing on a core's own stack.
void sequencer::enter() {
  sequencer& all = *running;
  core& own = *all.current_;
  own.body();
  own.ended = true;
  if (own.number == 0) {
    all.over_ = true;
    ::setcontext(&all.outside_);
  }
  all.go_on_with_next();
}

void sequencer::run(std::function<void()> body) {
  prepare(*cores_[0], std::move(body));
  put(*cores_[0]);
  running = this;
  ::getcontext(&outside_);
  if (!over_) go_on_with_next();
  running = nullptr;
}

unsigned sequencer::start(std::function<void()> body) {
  for (const auto& each : cores_) {
    if (!each->ended || each.get() == current_) continue;
    prepare(*each, std::move(body));
    each->clock = std::max(each->clock, current_->clock + on_.wake_to_run);
    put(*each);
    return each->number;
  }
  std::exit((std::fputs("simulate: more threads than cores\n", stderr), 1));
}

void sequencer::join(unsigned number) {
  while (!cores_[number]->ended) {
    spend(on_.yield);
    take_turn();
  }
}

void sequencer::put(core& c) noexcept {
  heap_.push_back({c.clock, c.number, ++c.turn});
  std::push_heap(heap_.begin(), heap_.end());
  look_at_next();
}

void sequencer::expect(picoseconds when) {
  if (nowhere_ == nullptr) nowhere_ = std::make_unique<core>();
  heap_.push_back({when, nobody, 0});
  std::push_heap(heap_.begin(), heap_.end());
  look_at_next();
}

void sequencer::switch_away() noexcept {
  core& own = *current_;
  own.locals.save();
  put(own);
  if (_setjmp(own.at) == 0) go_on_with_next();
}

void sequencer::go_on_with_next() noexcept {
  for (;;) {
    if (heap_.empty()) std::exit((std::fputs("simulate: all cores sleep for ever\n", stderr), 1));
    std::pop_heap(heap_.begin(), heap_.end());
    const waiting next = heap_.back();
    heap_.pop_back();
    if (next.number == nobody) {
      current_ = nowhere_.get();
      nowhere_->clock = next.clock;
      outside(next.clock);
      continue;
    }
    core& c = *cores_[next.number];
    if (c.turn != next.turn) continue;  // a time limit of a sleep that was ended before
    c.asleep = false;
    current_ = &c;
    break;
  }
  look_at_next();
  current_->locals.restore();
  if (current_->entered) _longjmp(current_->at, 1);
  current_->entered = true;
  ::getcontext(&current_->start);
  current_->start.uc_stack.ss_sp = current_->stack.get();
  current_->start.uc_stack.ss_size = stack_bytes;
  current_->start.uc_link = nullptr;
  ::makecontext(&current_->start, &sequencer::enter, 0);
  ::setcontext(&current_->start);
}

void sequencer::sleep(picoseconds until) noexcept {
  core& own = *current_;
  own.asleep = true;
  own.locals.save();
  own.clock = std::max(own.clock, until);
  if (until != never) put(own);
  if (_setjmp(own.at) == 0) go_on_with_next();
}

void sequencer::wake(unsigned number, picoseconds when) noexcept {
  core& c = *cores_[number];
  if (!c.asleep || c.clock <= when) return;
  c.asleep = false;
  c.clock = when;
  put(c);
}

bool sequencer::all_others_sleep() const noexcept {
  return std::all_of(cores_.begin(), cores_.end(), [this](const auto& each) { return each.get() == current_ || each->asleep || each->ended; });
}

void sequencer::touch_line(std::size_t line, touch_kind how) noexcept {
  core& own = *current_;
  ++own.accesses;
  own.clock += own.hit;
  if (own.hit == 0) own.touched.touch(line, how);  // a handler
  if (caches_.hits(own.number, line, how)) return;
  take_turn();
  if (caches_.hits(own.number, line, how)) return;
  ++own.misses;
  if (how != touch_kind::store) own.clock = std::max(own.clock, caches_.busy_until(line));
  const picoseconds begin = std::max(own.clock, caches_.busy_until(line));
  const delay waits = caches_.fetch(own.number, line, how);
  const std::uint64_t share = next_share();
  own.clock += waits.core * share / 1024;
  if (waits.line != 0) caches_.busy_until(line) = begin + waits.line * share / 1024;
}

/// From a half to one and a half, in 1024ths, drawn: no way of a line takes the same time twice. With ways of one length two cores that each
/// repeat a few steps fall into one rhythm, and one of them may find a lock held for ever.
std::uint64_t sequencer::next_share() noexcept {
  drawn_ ^= drawn_ << 13;
  drawn_ ^= drawn_ >> 7;
  drawn_ ^= drawn_ << 17;
  return 512 + (drawn_ >> 20) % 1025;
}

void sequencer::touch(const volatile void* address, std::size_t size, touch_kind how) noexcept {
  const arena& all = memory();
  if (!all.has(address)) {  // a stack, or what is constant
    current_->clock += current_->hit;
    return;
  }
  const std::size_t offset = all.offset_of(address);
  const std::size_t last = (offset + size - 1) / arena::line_bytes;
  for (std::size_t line = offset / arena::line_bytes; line <= last; ++line) touch_line(line, how);
}

/// Even one that hits is seen by all others in its turn.
void sequencer::touch_atomic(const volatile void* address, touch_kind how) noexcept {
  if (!memory().has(address)) {
    current_->clock += current_->hit;
    return;
  }
  take_turn();
  touch_line(memory().offset_of(address) / arena::line_bytes, how);
  if (how == touch_kind::rmw) current_->clock += on_.rmw;
}

}  // namespace simulation
