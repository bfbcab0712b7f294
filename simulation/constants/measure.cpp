// What things cost on this machine: the constants of the simulation (docs/design/scheduler-simulation.md), as JSON on stdout.
//
//   build/release/simulation/measure > simulation/constants/NAME.json
//
// Each figure is the lower quartile of some short rounds: others use the machine too, and what they take does not belong to it. Two threads
// are bound to the first two CPUs that the process may use.

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <numeric>
#include <sched.h>
#include <string>
#include <thread>
#include <vector>

#include "bench/harness/churn.h"
#include "bench/harness/clock.h"
#include "simulation/constants/chase.h"
#include "simulation/queue_steps.h"

namespace {

using bench::now_ns;

constexpr int rounds = 101;

double lower_quartile(std::vector<double> of) {
  std::sort(of.begin(), of.end());
  return of[of.size() / 4];
}

/// Of `times` calls in a row, in each of the rounds; for one call.
template <class F>
double ns_of(std::size_t times, F&& f) {
  std::vector<double> each;
  for (int round = 0; round < rounds; ++round) {
    const std::uint64_t start = now_ns();
    for (std::size_t n = 0; n < times; ++n) f();
    each.push_back(static_cast<double>(now_ns() - start) / static_cast<double>(times));
  }
  return lower_quartile(std::move(each));
}

void bind_to(unsigned nth) {
  cpu_set_t all;
  CPU_ZERO(&all);
  if (sched_getaffinity(0, sizeof all, &all) != 0) return;
  for (unsigned cpu = 0, seen = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &all) || seen++ != nth) continue;
    cpu_set_t only;
    CPU_ZERO(&only);
    CPU_SET(cpu, &only);
    static_cast<void>(sched_setaffinity(0, sizeof only, &only));
    return;
  }
}

void print(const char* name, double value) { std::printf("  \"%s\": %.2f,\n", name, value); }

/// Two threads that take turns, each on a CPU of its own: the other one does its part, then this one is timed.
class pair_of_threads {
 public:
  template <class Other, class Own>
  static double ns_of(Other other, Own own) {
    std::atomic<unsigned> turn{0};
    std::thread beside{[&] {
      bind_to(1);
      for (unsigned n = 0; n < rounds; ++n) {
        while (turn.load(std::memory_order_acquire) != 2 * n) {
        }
        other();
        turn.store(2 * n + 1, std::memory_order_release);
      }
    }};
    std::vector<double> each;
    for (unsigned n = 0; n < rounds; ++n) {
      while (turn.load(std::memory_order_acquire) != 2 * n + 1) {
      }
      const std::uint64_t start = now_ns();
      own();
      each.push_back(static_cast<double>(now_ns() - start));
      turn.store(2 * n + 2, std::memory_order_release);
    }
    beside.join();
    return lower_quartile(each);
  }
};

void measure_lines() {
  // few enough for the first cache of a core
  constexpr std::size_t lines = 256;
  simulation::chase there{lines};
  const double all = static_cast<double>(lines);
  print("line_load_ns", pair_of_threads::ns_of([&] { there.write_all(); }, [&] { there.walk(lines); }) / all);
  print("line_store_ns", pair_of_threads::ns_of([&] { there.write_all(); }, [&] { there.write_all(); }) / all);
}

void measure_caches() {
  constexpr std::size_t kilo = 1024 / simulation::chase::line_bytes;
  simulation::chase second{192 * kilo};
  simulation::chase third{8192 * kilo};
  simulation::chase memory{262'144 * kilo};
  const auto walk = [](simulation::chase& in) {
    constexpr std::size_t steps = 2'000;
    return ns_of(1, [&in] { in.walk(steps); }) / steps;
  };
  const auto stream = [](simulation::chase& in) {
    return ns_of(1, [&in] { in.read_in_order(); }) / static_cast<double>(in.lines());
  };
  second.walk(second.lines());
  print("l2_load_ns", walk(second));
  print("l3_load_ns", walk(third));
  print("memory_load_ns", walk(memory));
  print("l3_stream_ns", stream(third));
  print("memory_stream_ns", stream(memory));
}

void measure_instructions() {
  std::atomic<std::uint64_t> word{0};
  constexpr std::size_t many = 1'000;
  print("rmw_ns", ns_of(many, [&] { word.fetch_add(1, std::memory_order_acq_rel); }));
  print("fence_ns", ns_of(many, [&] {
    word.store(1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_seq_cst);
  }));
  print("pause_ns", ns_of(many, [] { __builtin_ia32_pause(); }));
  print("clock_ns", ns_of(many, [] { static_cast<void>(now_ns()); }));
  std::uint64_t x = 1;
  print("churn_step_ns", ns_of(2, [&] { x = bench::churn_alone(x, 10'000); }) / 10'000);
  print("spin_100_cycles_ns", ns_of(many, [] { bench::spin_cycles(100); }));
  print("spin_20000_cycles_ns", ns_of(10, [] { bench::spin_cycles(20'000); }));
  print("new_delete_ns", ns_of(many, [] {
    void* memory = ::operator new(64);
    asm volatile("" : "+r"(memory) : : "memory");
    ::operator delete(memory);
  }));
  simulation::queue_steps steps;
  print("queue_steps_ns", ns_of(many, [&] { steps.once(); }));
}

/// What the handlers of W8 and W9 compute, with their data in the first cache.
void measure_handlers() {
  std::array<std::uint32_t, 512> numbers{};
  std::array<std::uint32_t, 512> merged{};
  std::uint64_t x = 0x9e3779b97f4a7c15u;
  const auto fill = [&] {
    for (std::uint32_t& n : numbers) {
      x ^= x << 13;
      x ^= x >> 7;
      x ^= x << 17;
      n = static_cast<std::uint32_t>(x >> 32);
    }
    x += std::accumulate(numbers.begin(), numbers.end(), std::uint64_t{0});
  };
  const double fill_ns = ns_of(50, fill);
  print("w9_make_ns", fill_ns);
  print("w9_sort_ns", ns_of(20, [&] {
    fill();
    std::sort(numbers.begin(), numbers.begin() + 256);
  }) - fill_ns);
  std::sort(numbers.begin(), numbers.begin() + 256);
  std::sort(numbers.begin() + 256, numbers.end());
  print("w9_merge_ns", ns_of(20, [&] {
    std::merge(numbers.begin(), numbers.begin() + 256, numbers.begin() + 256, numbers.end(), merged.begin());
    if (std::is_sorted(merged.begin(), merged.end())) x += std::accumulate(merged.begin(), merged.end(), std::uint64_t{0});
    asm volatile("" : "+r"(x) : : "memory");
  }));
  std::array<std::uint32_t, 8192> array{};
  print("w8_make_ns", ns_of(20, [&] {
    std::iota(array.begin(), array.end(), static_cast<std::uint32_t>(x));
    asm volatile("" : : "r"(array.data()) : "memory");
  }));
  std::size_t piece = 0;
  print("w8_read_ns", ns_of(500, [&] {
    const std::uint32_t* const first = array.data() + 16 * (piece++ % 512);
    x = bench::churn_alone(std::accumulate(first, first + 16, x), 64);
  }));
}

long futex(std::atomic<std::uint32_t>& word, int what, std::uint32_t value) {
  return ::syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), what | FUTEX_PRIVATE_FLAG, value, nullptr, nullptr, 0);
}

/// The waker's part, and how long after it has begun the sleeper runs.
void measure_wake() {
  constexpr unsigned wakes = 200;
  std::atomic<std::uint32_t> word{0};
  std::atomic<std::uint64_t> woke_at{0};
  std::thread sleeper{[&] {
    bind_to(1);
    for (std::uint32_t n = 0; n < wakes; ++n) {
      while (word.load(std::memory_order_acquire) == n) futex(word, FUTEX_WAIT, n);
      woke_at.store(now_ns(), std::memory_order_release);
    }
  }};
  std::vector<double> waker;
  std::vector<double> to_run;
  for (std::uint32_t n = 0; n < wakes; ++n) {
    const timespec a_while{0, 300'000};  // until it sleeps for certain
    nanosleep(&a_while, nullptr);
    woke_at.store(0, std::memory_order_relaxed);
    word.store(n + 1, std::memory_order_release);
    const std::uint64_t start = now_ns();
    futex(word, FUTEX_WAKE, 1);
    waker.push_back(static_cast<double>(now_ns() - start));
    std::uint64_t woke = 0;
    while ((woke = woke_at.load(std::memory_order_acquire)) == 0) {
    }
    to_run.push_back(static_cast<double>(woke - start));
  }
  sleeper.join();
  print("futex_wake_ns", lower_quartile(waker));
  print("wake_to_run_ns", lower_quartile(to_run));
  print("futex_refused_ns", ns_of(100, [&] { futex(word, FUTEX_WAIT, 0); }));
  print("yield_ns", ns_of(100, [] { sched_yield(); }));
}

void barrier() { ::syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0); }

/// The caller's part, while the other thread sleeps and while it runs; and what that one loses by each.
void measure_membarrier() {
  if (::syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) != 0) return;
  print("membarrier_alone_ns", ns_of(100, barrier));
  std::atomic<bool> stop{false};
  std::atomic<std::uint64_t> turns{0};
  std::thread busy{[&] {
    bind_to(1);
    std::uint64_t x = 1;
    while (!stop.load(std::memory_order_relaxed)) {
      x = bench::churn_alone(x, 50);
      turns.store(turns.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    }
  }};
  const auto turns_in = [&](std::uint64_t ns, bool disturbed, std::uint64_t& barriers) {
    const std::uint64_t before = turns.load(std::memory_order_relaxed);
    const std::uint64_t start = now_ns();
    while (now_ns() - start < ns) {
      if (disturbed) barrier(), ++barriers;
    }
    return static_cast<double>(turns.load(std::memory_order_relaxed) - before);
  };
  constexpr std::uint64_t span_ns = 2'000'000;
  std::vector<double> calls;
  std::vector<double> lost;
  for (int n = 0; n < rounds; ++n) {
    std::uint64_t barriers = 0;
    const double undisturbed = turns_in(span_ns, false, barriers);
    const double disturbed = turns_in(span_ns, true, barriers);
    calls.push_back(static_cast<double>(span_ns) / static_cast<double>(barriers));
    lost.push_back(std::max(0.0, static_cast<double>(span_ns) * (1 - disturbed / undisturbed) / static_cast<double>(barriers)));
  }
  stop.store(true);
  busy.join();
  print("membarrier_ns", lower_quartile(calls));
  print("membarrier_victim_ns", lower_quartile(lost));
}

}  // namespace

int main() {
  std::printf("{\n");
  bind_to(0);
  measure_instructions();
  measure_caches();
  measure_lines();
  measure_wake();
  measure_membarrier();
  measure_handlers();
  std::printf("  \"rounds\": %d\n}\n", rounds);
}
