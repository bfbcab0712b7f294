#pragma once
/// The threads that run what would block a worker.

#include <pthread.h>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <source_location>
#include <string>
#include <tartan/core/blocking.h>
#include <vector>

#include "core/cpus.h"

namespace tartan::detail {

class destroyed_list;
class runtime_state;

/// A job that has begun and not ended, for the report of a drain that cannot end.
struct running_job {
  std::source_location site;  ///< where it was handed in
  color where;                ///< where its result goes
};

/// What a pool is made from.
struct blocking_setup {
  unsigned threads = 16;     ///< at most; at least 1
  std::size_t queue = 1024;  ///< jobs that wait for a thread, at most; a waiting coroutine does not count as refused
  bool held = false;         ///< no thread starts before begin()
  cpu_mask unbound;          ///< where its threads may run if workers get bound; empty: where their starter runs
  void (*started)(void*) noexcept = [](void*) noexcept {};  ///< for each accepted job
  void (*ended)(void*) noexcept = [](void*) noexcept {};    ///< for each job that was run or dropped
  bool (*await_turn)(void*) noexcept = [](void*) noexcept { return true; };  ///< on a thread that is free; false: there is no job any more
  void (*end_turn)(void*) noexcept = [](void*) noexcept {};                  ///< for each turn that there was
  void* owner = nullptr;
  void (*offered)(void*) noexcept = [](void*) noexcept {};  ///< for each job of a callback, before anything is done with it
  int (*create_thread)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*) = &::pthread_create;
};

/// Runs jobs first in, first out on a bounded number of threads.
///
/// A thread is started when a job comes and no thread is free; it then stays until the pool shuts down: an idle one costs
/// its stack's few touched pages and no CPU, and a burst that comes again finds it. Signals from outside are blocked in it.
/// Threads: any.
class blocking_pool {
 public:
  explicit blocking_pool(runtime_state& rt) : blocking_pool{setup_for(rt)} {}
  explicit blocking_pool(blocking_setup with) noexcept;
  blocking_pool(const blocking_pool&) = delete;
  blocking_pool& operator=(const blocking_pool&) = delete;
  ~blocking_pool() { shut_down(); }

  /// That of a runtime's pool.
  [[nodiscard]] static blocking_setup setup_for(runtime_state& rt);

  /// Lets a pool that was held start its threads: a runtime starts none before its first run (contract 14).
  ///
  /// Errors: std::system_error if jobs wait and not even one can be started; then it is still held.
  void begin();

  /// A callback's form: false if the queue is at its limit, or the pool was shut down.
  ///
  /// Errors: std::system_error if there is no thread and none can be started. With at least one, the job waits for that.
  [[nodiscard]] bool try_submit(blocking_job& job);

  /// A coroutine's form: waits behind the queue, in order, and is never refused: its memory is the coroutine's own.
  /// After shut_down the job is dropped.
  ///
  /// Errors: as above; then the job was not kept.
  void submit_when_possible(blocking_job& job);

  /// Jobs accepted and not ended.
  [[nodiscard]] std::size_t unfinished() const;

  /// Drops the jobs that no thread has begun. Gives how many callables that destroyed; a coroutine's job lies in its frame
  /// and is counted with that. `into` notes each.
  std::size_t drop_waiting(destroyed_list* into = nullptr) noexcept;

  /// False if jobs were left at that time. When it gives true, no blocking thread touches the runtime any more.
  bool wait_until_done(std::chrono::steady_clock::time_point deadline);

  /// The jobs that run now, the one that began first in front.
  [[nodiscard]] std::vector<running_job> running() const;

  /// Drops what waits, lets what runs end, and ends the threads. To be called before anything that jobs use is destroyed.
  void shut_down() noexcept;

 private:
  struct thread {
    blocking_pool* pool;
    pthread_t id{};
    bool busy = false;        // under lock_, as is all below
    running_job job{};        // while busy
    std::uint64_t begun = 0;  // a number that grows with each job of the pool
  };

  void accept(blocking_job& job);
  bool want_thread();
  void serve(thread& self) noexcept;
  void take_turn(std::unique_lock<std::mutex>& held, thread& self) noexcept;
  static void* enter(void* self) noexcept;

  const blocking_setup setup_;
  mutable std::mutex lock_;  // guards everything below
  std::condition_variable job_came_;
  std::condition_variable job_ended_;
  blocking_job* first_ = nullptr;
  blocking_job* last_ = nullptr;
  std::size_t waiting_ = 0;  // jobs in the list
  std::size_t busy_ = 0;     // threads that run a job
  std::size_t unfinished_ = 0;
  std::uint64_t begun_ = 0;  // jobs, ever
  std::vector<std::unique_ptr<thread>> threads_;
  bool held_ = setup_.held;
  bool closed_ = false;
};

}  // namespace tartan::detail
