// A call that blocks stops a worker, and with it every color that the worker holds. A thread per call is the naive cure: a burst
// of 10,000 look-ups makes 10,000 threads. So: a bounded number of threads, a bounded queue, and an answer for what comes
// beyond it. One mutex guards all: a job costs a system call or more by definition, the lock is not what it waits for.

#include "core/blocking_pool.h"

#include <algorithm>
#include <cerrno>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include "core/destroyed_list.h"
#include "core/fatal.h"
#include "core/guest.h"
#include "core/runtime_state.h"
#include "core/signals.h"

namespace tartan::detail {

blocking_setup blocking_pool::setup_for(runtime_state& rt) {
  blocking_setup setup;
  setup.threads = std::max(rt.settings().blocking_threads, 1u);
  setup.queue = rt.settings().blocking_queue;
  setup.held = true;
  if (rt.settings().bind_workers) setup.unbound = rt.cpus();
  setup.started = [](void* owner) noexcept {
    auto& of = *static_cast<runtime_state*>(owner);
    of.operation_started();
    of.clock().job_begins();
  };
  setup.ended = [](void* owner) noexcept {
    auto& of = *static_cast<runtime_state*>(owner);
    of.operation_ended();
    of.clock().job_ended();  // last: who is woken for the end of it all is awake before a clock may jump
  };
  setup.await_turn = [](void* owner) noexcept { return static_cast<runtime_state*>(owner)->clock().await_job_turn(); };
  setup.end_turn = [](void* owner) noexcept { static_cast<runtime_state*>(owner)->clock().end_job_turn(); };
  setup.owner = &rt;
  return setup;
}

blocking_pool::blocking_pool(blocking_setup with) noexcept : setup_{std::move(with)} {}

bool blocking_pool::try_submit(blocking_job& job) {
  setup_.offered(setup_.owner);
  const std::lock_guard held{lock_};
  // Jobs for which a thread is free, or can be started, do not count as waiting.
  if (closed_ || waiting_ >= setup_.queue + (setup_.threads - busy_)) return false;
  accept(job);
  return true;
}

void blocking_pool::submit_when_possible(blocking_job& job) {
  {
    const std::lock_guard held{lock_};
    if (!closed_) return accept(job);
  }
  if (job.drop != nullptr) job.drop(job);
}

void blocking_pool::accept(blocking_job& job) {
  if (!held_ && busy_ + waiting_ >= threads_.size()) want_thread();
  setup_.started(setup_.owner);
  job.next = nullptr;
  (last_ != nullptr ? last_->next : first_) = &job;
  last_ = &job;
  ++waiting_;
  ++unfinished_;
  job_came_.notify_one();
}

void blocking_pool::begin() {
  const std::lock_guard held{lock_};
  if (!held_) return;
  while (threads_.size() < waiting_ && want_thread()) {
  }
  held_ = false;
}

/// Starts a thread unless there are enough; false if it did not. One that the system refuses matters only if it were the
/// first: else the job waits for a thread that exists, and the next job asks again.
bool blocking_pool::want_thread() {
  if (threads_.size() >= setup_.threads) return false;
  threads_.reserve(threads_.size() + 1);
  auto fresh = std::make_unique<thread>(thread{this});
  const signals_blocked quiet;  // inherited
  const int error = setup_.create_thread(&fresh->id, nullptr, [](void* self) { return enter(self); }, fresh.get());
  if (error == 0) {
    threads_.push_back(std::move(fresh));
  } else if (threads_.empty()) {
    throw std::system_error{error, std::system_category(), "tartan: no thread for blocking jobs can be started"};
  }
  return error == 0;
}

void* blocking_pool::enter(void* self) noexcept {
  auto& own = *static_cast<thread*>(self);
  static_cast<void>(::pthread_setname_np(::pthread_self(), "tartan-blocking"));  // only shown in tools
  if (bind_to_all(own.pool->setup_.unbound)) {
    // Refused: the thread shares its starter's CPU, which is slow but right.
  }
  own.pool->serve(own);
  return nullptr;
}

void blocking_pool::serve(thread& self) noexcept {
  std::unique_lock held{lock_};
  for (;;) {
    job_came_.wait(held, [this] { return closed_ || first_ != nullptr; });
    if (first_ == nullptr) return;
    held.unlock();
    const bool has_turn = setup_.await_turn(setup_.owner);
    held.lock();
    if (has_turn) take_turn(held, self);
  }
}

/// There may be no job any more: the turn was waited for without the lock.
void blocking_pool::take_turn(std::unique_lock<std::mutex>& held, thread& self) noexcept {
  if (first_ == nullptr) return setup_.end_turn(setup_.owner);
  blocking_job& job = *first_;
  first_ = job.next;
  if (first_ == nullptr) last_ = nullptr;
  --waiting_;
  ++busy_;
  self.busy = true;
  self.job = {job.site, job.where};
  self.begun = ++begun_;
  held.unlock();
  job.run(job);  // the job may be gone when this returns
  setup_.end_turn(setup_.owner);
  setup_.ended(setup_.owner);
  held.lock();
  self.busy = false;
  --busy_;
  if (--unfinished_ == 0) job_ended_.notify_all();
}

std::size_t blocking_pool::unfinished() const {
  const std::lock_guard held{lock_};
  return unfinished_;
}

std::size_t blocking_pool::drop_waiting(destroyed_list* into) noexcept {
  blocking_job* dropped = nullptr;
  std::size_t ended = 0;
  std::size_t destroyed = 0;
  {
    const std::lock_guard held{lock_};
    dropped = std::exchange(first_, nullptr);
    last_ = nullptr;
    ended = std::exchange(waiting_, 0);
  }
  while (dropped != nullptr) {
    blocking_job& job = *std::exchange(dropped, dropped->next);
    if (job.drop != nullptr) {
      if (into != nullptr) into->add(work_kind::blocking_job, job.site);
      job.drop(job);  // without the lock: what it destroys may submit
      ++destroyed;
    }
    setup_.ended(setup_.owner);
  }
  const std::lock_guard held{lock_};
  unfinished_ -= ended;
  if (unfinished_ == 0) job_ended_.notify_all();
  return destroyed;
}

bool blocking_pool::wait_until_done(std::chrono::steady_clock::time_point deadline) {
  std::unique_lock held{lock_};
  return job_ended_.wait_until(held, deadline, [this] { return unfinished_ == 0; });
}

std::vector<running_job> blocking_pool::running() const {
  const std::lock_guard held{lock_};
  std::vector<const thread*> busy;
  for (const auto& each : threads_) {
    if (each->busy) busy.push_back(each.get());
  }
  std::sort(busy.begin(), busy.end(), [](const thread* a, const thread* b) { return a->begun < b->begun; });
  std::vector<running_job> jobs;
  for (const thread* const each : busy) jobs.push_back(each->job);
  return jobs;
}

void blocking_pool::shut_down() noexcept {
  std::vector<std::unique_ptr<thread>> ending;
  {
    const std::lock_guard held{lock_};
    closed_ = true;
    ending.swap(threads_);
  }
  drop_waiting();
  job_came_.notify_all();
  for (const auto& each : ending) {
    if (const int error = ::pthread_join(each->id, nullptr); error != 0) {
      fatal({"a blocking thread cannot be joined: ", std::system_category().message(error),
             error == EDEADLK ? " (is the runtime destroyed by its own blocking job?)" : ""});
    }
  }
}

std::error_code start_blocking(runtime_state& rt, blocking_job& job) noexcept {
  std::optional<guests::posting> in_gate;  // who drains waits for what was submitted, and so for who is about to
  if (rt.worker_here() == nullptr) in_gate.emplace(rt.guests());
  if (rt.stopping()) return errc::canceled;
  try {
    return rt.blocking().try_submit(job) ? std::error_code{} : errc::busy;
  } catch (const std::system_error& e) {
    return e.code();
  } catch (const std::bad_alloc&) {
    return std::make_error_code(std::errc::not_enough_memory);
  }
}

}  // namespace tartan::detail
