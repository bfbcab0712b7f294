#include <tartan/core/event_batch.h>
#include <tartan/core/runtime.h>

#include <span>
#include <utility>

#include "core/fatal.h"
#include "core/lifecycle.h"
#include "core/runtime_state.h"
#include "core/sched/policy.h"
#include "core/worker.h"

namespace tartan {

namespace {

std::uint64_t ns_of(std::chrono::nanoseconds duration) {
  return duration.count() < 0 ? 0 : static_cast<std::uint64_t>(duration.count());
}

}  // namespace

runtime::runtime(options with, std::source_location site)
    : state_{std::make_unique<detail::runtime_state>(std::move(with), site)} {}

runtime::~runtime() {
  if (!state_->life().over()) (void)drain(std::chrono::nanoseconds{0});
}

int runtime::run(std::source_location site) { return state_->life().run(site); }
void runtime::run_until_idle(std::source_location site) { state_->life().run_until_idle(site); }
std::uint64_t runtime::run_for(std::chrono::nanoseconds duration, std::source_location site) {
  return state_->life().run_for(ns_of(duration), site);
}
void runtime::stop() noexcept { state_->life().stop(); }
bool runtime::stopped() const noexcept { return state_->stopping(); }
void runtime::stop_on(std::initializer_list<int> signals) { state_->stop_on(signals, 0); }
void runtime::shutdown(std::chrono::nanoseconds within) noexcept { state_->life().shut_down(ns_of(within)); }
bool runtime::shutting_down() const noexcept { return state_->closing(); }
void runtime::shutdown_on(std::initializer_list<int> signals, std::chrono::nanoseconds within) { state_->stop_on(signals, ns_of(within)); }
drained runtime::drain(std::chrono::nanoseconds within, std::source_location site) {
  return state_->life().drain(ns_of(within), site);
}
int runtime::descriptor() { return state_->life().descriptor(); }
std::vector<waiting_coroutine> runtime::waiting(std::source_location site) const { return state_->life().waiting(site); }
unsigned runtime::workers() const noexcept { return state_->life().wanted(); }
void runtime::set_workers(unsigned workers) { state_->life().set_workers(workers); }

runtime_counters runtime::counters() const noexcept {
  runtime_counters sum;
  const detail::lifecycle& life = state_->life();
  for (unsigned n = 0; n < life.size(); ++n) {
    const detail::worker& w = life.at(n);
    sum.events += w.events.get();
    sum.turns += w.turns.get();
    sum.steals += w.steals.get();
    sum.stolen_colors += w.stolen_colors.get();
    sum.wakes += w.wakes.get();
    sum.sleeps += w.sleeps.get();
  }
  return sum;
}

void runtime::name(color c, std::string_view name) { state_->name(c, name); }
std::string runtime::name_of(color c) const { return state_->name_of(c); }

std::chrono::steady_clock::time_point runtime::now() const noexcept {
  return std::chrono::steady_clock::time_point{std::chrono::nanoseconds{static_cast<std::int64_t>(state_->now_ns())}};
}

bool runtime::post(event_batch&& batch, std::source_location site) {
  // The memory of its events would flow back into the wrong pool.
  if (batch.state_ != state_.get()) {
    detail::fatal({"an event_batch was posted to another runtime than the one that it was made for, at ", detail::place(site)});
  }
  if (!state_->post_all(batch.items_)) {
    batch.clear();
    return false;
  }
  batch.items_.clear();
  return true;
}

event_batch::event_batch(runtime& rt) noexcept : state_{&rt.state()} { state_->objects_changed(1); }

event_batch::event_batch(event_batch&& other) noexcept : state_{other.state_}, items_{std::move(other.items_)} {
  other.items_.clear();
  state_->objects_changed(1);
}

event_batch::~event_batch() {
  clear();
  state_->objects_changed(-1);
}

void event_batch::clear() noexcept {
  for (const item& each : items_) detail::discard_event(*state_, *each.what);
  items_.clear();
}

}  // namespace tartan
