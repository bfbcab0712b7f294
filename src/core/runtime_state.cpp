#include "core/runtime_state.h"

#include <algorithm>
#include <exception>
#include <stdexcept>
#include <string>
#include <utility>

#include "core/blocking_pool.h"
#include "core/descriptors.h"
#include "core/fatal.h"
#include "core/foreign_waits.h"
#include "core/frame_pool.h"
#include "core/sleep/futex_poller.h"
#include "core/lifecycle.h"
#include "core/root_registry.h"
#include "core/sched/papers/color_queues_policy.h"
#include "core/sched/policy.h"
#include "core/signals.h"
#include "core/strand_color.h"
#include "core/worker.h"

namespace tartan::detail {

namespace {

constexpr unsigned most_workers = 1024;
constexpr unsigned most_batch = 65536;

options checked(options with) {
  const auto refuse = [](const std::string& what) { throw std::invalid_argument{"tartan::options::" + what}; };
  if (with.workers > most_workers) refuse("workers: " + std::to_string(with.workers) + ", but 1024 is the maximum");
  if (with.max_workers > most_workers) refuse("max_workers: " + std::to_string(with.max_workers) + ", but 1024 is the maximum");
  if (with.max_workers != 0 && with.max_workers < with.workers) {
    refuse("max_workers: " + std::to_string(with.max_workers) + ", but workers is " + std::to_string(with.workers));
  }
  if (with.batch == 0 || with.batch > most_batch) {
    refuse("batch: " + std::to_string(with.batch) + ", but it must be 1 to 65536");
  }
  if (with.blocking_threads == 0) refuse("blocking_threads: 0, but blocking jobs need at least one");
  if (with.drain_within.count() < 0) refuse("drain_within: negative");
  if (with.stall_after.count() < 0) refuse("stall_after: negative; zero means never");
  return with;
}

unsigned workers_for(const options& with, const scheduler_choice& choice) {
  if (choice.kind == scheduler_kind::serial) return 1;
  const unsigned usable = with.workers != 0 ? with.workers : usable_cpus();
  const unsigned wanted = with.max_workers != 0 ? std::min(usable, with.max_workers) : usable;
  if (choice.kind != scheduler_kind::color_queues || wanted <= color_queues_policy::most_workers) return wanted;
  throw std::invalid_argument{"tartan::options::workers: " + std::to_string(wanted) + ", but color_queues has a byte for a worker's number"};
}

unsigned most_workers_for(const options& with, const scheduler_choice& choice, unsigned first) {
  if (with.max_workers == 0 && !with.follow_cpus) return first;
  if (choice.kind != scheduler_kind::standard || !with.stealing) {
    throw std::invalid_argument{"tartan::options::max_workers, follow_cpus: only the default scheduler, with stealing, changes its number of workers"};
  }
  const unsigned most = with.max_workers != 0 ? with.max_workers : std::min(all_cpus(), most_workers);
  return std::max(first, most);
}

/// Where workers sleep as long as there is nothing outside to wait for.
futex_poller::seat_kind seat_for(const scheduler_choice& choice) noexcept {
  return choice.kind == scheduler_kind::shared_queue ? futex_poller::seat_kind::pipe : futex_poller::seat_kind::futex;
}

}  // namespace

runtime_state::runtime_state(options with, std::source_location made_at)
    : settings_{checked(std::move(with))},
      made_at_{made_at},
      strand_mark_{strand_color::next_mark()},
      choice_{scheduler_choice::from(settings_)},
      cpus_{cpu_mask::of_this_thread()},
      workers_{workers_for(settings_, choice_)},
      most_workers_{most_workers_for(settings_, choice_, workers_)},
      events_{this},
      own_poller_{settings_.poller == nullptr ? std::make_unique<futex_poller>(seat_for(choice_)) : nullptr},
      poller_{settings_.poller != nullptr ? settings_.poller : own_poller_.get()} {
  choose_barriers();
  poller_->attach(most_workers_);
  frames_ = std::make_unique<frame_pool>(*this);
  roots_ = std::make_unique<root_registry>(*this);
  foreign_ = std::make_unique<foreign_waits>(*this);
  blocking_ = std::make_unique<blocking_pool>(*this);
  life_ = std::make_unique<lifecycle>(*this);
  policy_ = make_scheduler(*this);
  signals_ = std::make_unique<stop_signals>(
      [](void* life, std::uint64_t within_ns) noexcept { static_cast<lifecycle*>(life)->shut_down(within_ns); }, life_.get());
}

runtime_state::~runtime_state() {
  expect_no_guards();
  signals_.reset();
  blocking_.reset();
  life_->end();
  roots_.reset();
  delete descriptors_.load(std::memory_order_acquire);  // pairs with plug_in; before the policy, for they hold strands
  policy_.reset();
  delete timers_.load(std::memory_order_acquire);  // pairs with plug_in
  expect_no_objects();
  life_.reset();
}

sleep_control& runtime_state::sleep() noexcept { return *life_; }
work_view& runtime_state::work() noexcept { return *policy_; }

void runtime_state::use(std::unique_ptr<scheduler> other) noexcept { policy_ = std::move(other); }
void runtime_state::use(std::unique_ptr<blocking_pool> other) noexcept { blocking_ = std::move(other); }

unsigned runtime_state::this_worker() const noexcept {
  const worker* const w = worker_here();
  return w != nullptr ? w->index : most_workers_;
}

clockwork& runtime_state::plug_in(std::unique_ptr<clockwork> timers) {
  clockwork* there = nullptr;
  // release: the timers themselves, pairs with timers(); acquire: those of who was first
  if (timers_.compare_exchange_strong(there, timers.get(), std::memory_order_acq_rel, std::memory_order_acquire)) {
    there = timers.release();
  }
  return *there;
}

descriptors& runtime_state::plug_in(std::unique_ptr<descriptors> all) {
  descriptors* there = nullptr;
  // release: the descriptors themselves, pairs with open_descriptors(); acquire: those of who was first
  if (descriptors_.compare_exchange_strong(there, all.get(), std::memory_order_acq_rel, std::memory_order_acquire)) {
    there = all.release();
  }
  return *there;
}

std::size_t runtime_state::operations() const noexcept {
  std::size_t sum = operations_.load(std::memory_order_acquire);  // pairs with operation_ended and waits_changed
  for (unsigned n = 0; n < most_workers_; ++n) sum += life_->at(n).io_waits.get();
  return sum;
}

void runtime_state::roots_changed(int more) noexcept {
  if (worker* const w = worker_here()) {
    w->roots.add(static_cast<std::uint64_t>(more));
  } else {
    roots_outside_.fetch_add(static_cast<std::size_t>(more), std::memory_order_relaxed);
  }
}

void runtime_state::objects_changed(int more) noexcept {
  if (worker* const w = worker_here()) {
    w->objects.add(static_cast<std::uint64_t>(more));
  } else {
    objects_outside_.fetch_add(static_cast<std::size_t>(more), std::memory_order_relaxed);
  }
}

// The pool of frames looks too, but it does not know those that were made outside of it: by a foreign thread, or large.
void runtime_state::expect_no_objects() const noexcept {
  std::size_t roots = roots_outside_.load(std::memory_order_relaxed);
  std::size_t others = objects_outside_.load(std::memory_order_relaxed);
  for (unsigned n = 0; n < most_workers_; ++n) {
    roots += life_->at(n).roots.get();
    others += life_->at(n).objects.get();
  }
  if (roots == 0 && others == 0) return;
  fatal({"a runtime was destroyed before ", std::to_string(roots != 0 ? roots : others),
         roots != 0 ? " coroutines, or handles of coroutines, that" : " timers, event batches or task groups that",
         " belong to it; it was made at ", place(made_at_)});
}

void runtime_state::expect_no_guards() const noexcept {
  const std::size_t left = guards_.load(std::memory_order_relaxed);
  if (left != 0) fatal({"a runtime was destroyed before ", std::to_string(left), " work guards that belong to it"});
}

void runtime_state::guard_closed() noexcept {
  // release: what its thread did and posted; pairs with guarded()
  if (guards_.fetch_sub(1, std::memory_order_acq_rel) == 1) life_->reconsider();
}

void runtime_state::timer_set(std::uint64_t deadline_ns, bool own_color) noexcept { life_->timer_set(deadline_ns, own_color); }

void runtime_state::operation_ended() noexcept {
  // release: what the operation posted; pairs with operations()
  if (operations_.fetch_sub(1, std::memory_order_acq_rel) == 1) life_->reconsider();
}

bool runtime_state::post_all(std::span<addressed_event> many) noexcept {
  if (worker* const from = worker_here()) {
    if (stopping() && life_->over()) return false;
    policy_->submit_many(many, from);
    return true;
  }
  const detail::guests::posting in_gate{guests_};
  if (stopping()) return false;
  policy_->submit_many(many, nullptr);
  return true;
}

void runtime_state::stop_on(std::initializer_list<int> signals, std::uint64_t within_ns) { signals_->stop_on(signals, within_ns); }

void runtime_state::name(color c, std::string_view name) {
  const std::lock_guard hold{names_lock_};
  names_.insert_or_assign(c, std::string{name});
}

void runtime_state::forget_name(color c) noexcept {
  const std::lock_guard hold{names_lock_};
  names_.erase(c);
}

std::string runtime_state::name_of(color c) const {
  const std::lock_guard hold{names_lock_};
  const auto found = names_.find(c);
  return found != names_.end() ? found->second : std::string{};
}

namespace {

std::string what_of(const std::exception_ptr& exception) {
  try {
    std::rethrow_exception(exception);
  } catch (const std::exception& e) {
    return std::string{": "} + e.what();
  } catch (...) {
    return {};
  }
}

}  // namespace

void runtime_state::escaped(color c, std::source_location site) {
  escaped_exception report{std::current_exception(), c, name_of(c), site};
  if (!settings_.on_exception) {
    fatal({"an exception left an event of ", color_text(c, report.name), ", posted at ", place(site),
           what_of(report.exception)});
  }
  try {
    settings_.on_exception(report);
  } catch (...) {
    fatal({"options::on_exception itself threw, for an event of ", color_text(c, report.name), ", posted at ", place(site),
           what_of(std::current_exception())});
  }
}

}  // namespace tartan::detail
