// The system as the simulated program sees it. The linker diverts its calls to here (--wrap): threads are cores, mutexes are waited for in
// virtual time, clocks show it, memory is the arena's, and a barrier on all cores costs what it costs.

#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <cerrno>
#include <condition_variable>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "core/sched/core_distance.h"
#include "simulation/pages.h"
#include "simulation/pause.h"
#include "simulation/sequencer.h"

using simulation::running;

namespace {

/// The clocks begin here: some code takes 0 for "never".
constexpr std::uint64_t first_ns = 1'000'000'000;

/// An own number for each thread: std::thread is nothing else.
std::uintptr_t& number_of(std::thread& of) noexcept {
  static_assert(sizeof(std::thread) == sizeof(std::uintptr_t));
  return reinterpret_cast<std::uintptr_t&>(of);
}

void wait_a_little() {
  running->spend(running->on().yield);
  running->take_turn();
}

}  // namespace

void simulated_pause() noexcept {
  if (running != nullptr) running->spend(running->on().pause);
}

extern "C" {

int __real_clock_gettime(clockid_t which, timespec* into);
int __wrap_clock_gettime(clockid_t which, timespec* into) {
  if (running == nullptr) return __real_clock_gettime(which, into);
  running->spend(running->on().clock);
  const std::uint64_t now_ns = first_ns + running->current().clock / 1000;
  into->tv_sec = static_cast<std::time_t>(now_ns / 1'000'000'000);
  into->tv_nsec = static_cast<long>(now_ns % 1'000'000'000);
  return 0;
}

int __real_sched_yield();
int __wrap_sched_yield() {
  if (running == nullptr) return __real_sched_yield();
  wait_a_little();
  return 0;
}

int __wrap_sched_getaffinity(pid_t, std::size_t size, cpu_set_t* into) {
  CPU_ZERO_S(size, into);
  for (unsigned n = 0; n < (running != nullptr ? running->on().cores : 1); ++n) CPU_SET_S(n, size, into);
  return 0;
}

int __wrap_sched_setaffinity(pid_t, std::size_t, const cpu_set_t*) { return 0; }  // each worker has a core of its own

int __real_pthread_mutex_trylock(pthread_mutex_t* mutex);
int __real_pthread_mutex_lock(pthread_mutex_t* mutex);
int __wrap_pthread_mutex_lock(pthread_mutex_t* mutex) {
  if (running == nullptr) return __real_pthread_mutex_lock(mutex);
  running->spend(running->on().rmw);
  running->take_turn();
  while (::pthread_mutex_trylock(mutex) == EBUSY) wait_a_little();
  return 0;
}

/// membarrier is all that is made this way here: its registration costs nothing, and each other call a barrier on all cores.
long __wrap_syscall(long number, ...) {
  if (number != SYS_membarrier) return errno = ENOSYS, -1;
  if (running == nullptr) return 0;
  running->take_turn();
  running->spend(running->all_others_sleep() ? running->on().barrier_alone : running->on().barrier);
  return 0;
}

void* __wrap_aligned_alloc(std::size_t alignment, std::size_t size) { return simulation::memory().take(size, alignment); }
void __real_free(void* memory);
void __wrap_free(void* memory) {
  if (!simulation::memory().has(memory)) __real_free(memory);
}
void* __real_mmap(void*, std::size_t, int, int, int, off_t);
void* __wrap_mmap(void*, std::size_t size, int, int, int, off_t) { return simulation::memory().take(size, 4096); }
int __wrap_munmap(void*, std::size_t) { return 0; }

// std::thread's start and join, and a condition variable, whose waits may end for no reason.
using thread_state = std::unique_ptr<std::thread::_State>;
void __wrap__ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE(std::thread* made, thread_state* body,
                                                                                                void (*)()) {
  const std::shared_ptr<std::thread::_State> shared{std::move(*body)};
  number_of(*made) = 1 + running->start([shared] { shared->_M_run(); });
}
void __wrap__ZNSt6thread4joinEv(std::thread* ends) {
  running->join(static_cast<unsigned>(number_of(*ends) - 1));
  number_of(*ends) = 0;
}
void __wrap__ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE(std::condition_variable*, std::unique_lock<std::mutex>* held) {
  held->mutex()->unlock();
  wait_a_little();
  __wrap_pthread_mutex_lock(held->mutex()->native_handle());
}
void __wrap__ZNSt18condition_variable10notify_allEv(std::condition_variable*) {}
void __wrap__ZNSt18condition_variable10notify_oneEv(std::condition_variable*) {}

}  // extern "C"

void* simulation::map_pages(std::size_t bytes) noexcept {
  void* const mapped = __real_mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) std::exit((std::perror("simulate: memory"), 1));
  return mapped;
}

namespace tartan::detail {

/// In the place of the one that asks the real system: neighbors in the simulated machine first, then by number, round.
std::vector<std::vector<unsigned>> nearest_first(const std::vector<unsigned>& cpus, const std::string& /*root*/) {
  const simulation::machine& on = running->on();
  std::vector<std::vector<unsigned>> order(cpus.size());
  for (const bool near : {true, false}) {
    for (unsigned from = 0; from < cpus.size(); ++from) {
      for (unsigned step = 1; step < cpus.size(); ++step) {
        const auto to = static_cast<unsigned>((from + step) % cpus.size());
        if ((on.group_of(from) == on.group_of(to)) == near) order[from].push_back(to);
      }
    }
  }
  return order;
}

}  // namespace tartan::detail

namespace {

void* allocate(std::size_t size, std::size_t alignment) {
  if (running != nullptr) running->spend(running->on().allocation);
  return simulation::memory().allocate(size, alignment);
}
void release(void* memory) noexcept {
  if (memory == nullptr) return;
  if (running != nullptr) running->spend(running->on().allocation);
  simulation::memory().free(memory);
}

}  // namespace

void* operator new(std::size_t size) { return allocate(size, 16); }
void* operator new(std::size_t size, std::align_val_t alignment) { return allocate(size, static_cast<std::size_t>(alignment)); }
void operator delete(void* memory) noexcept { release(memory); }
void operator delete(void* memory, std::size_t) noexcept { release(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { release(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { release(memory); }
