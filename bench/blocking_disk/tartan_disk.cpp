// Handlers that block: what more workers than CPUs bring, and what the pool of blocking(color, f, done) brings instead.
// Each request reads 64 KB of a file past the cache, or sleeps for 2 ms, and then computes for some 20 us. 64 colors have 4 requests each.
// The number is not that of a server: there are no sockets, and a new request begins where one has ended.

#include <fcntl.h>
#include <tartan/core/blocking.h>
#include <tartan/core/post.h>
#include <tartan/core/runtime.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "bench/harness/churn.h"
#include "bench/harness/clock.h"
#include "bench/harness/process.h"

namespace {

constexpr std::size_t page_bytes = 4096;  // each page of the file begins with its number
constexpr std::size_t read_bytes = 64 * 1024;
constexpr unsigned colors = 64;
constexpr unsigned requests_each = 4;
constexpr double compute_ns = 20'000;
constexpr std::chrono::milliseconds slow_disk{2};
constexpr std::chrono::milliseconds warm_up{300};
constexpr int idle_reads = 64;  // before the load: their median is the time of a read

[[noreturn]] void fail(const char* what, int error) {
  std::fprintf(stderr, "tartan_disk: %s: %s\n", what, std::strerror(error));
  std::exit(1);
}

/// The command line.
struct asked_for {
  bool in_pool;         ///< the pool of blocking threads waits, instead of the handlers
  bool sleeps;          ///< a sleep takes the place of the read
  unsigned cpus;        ///< workers at the beginning
  unsigned threads;     ///< workers, or threads of the pool, that wait
  double seconds;
  const char* path;
};

/// A file that is read past the cache, or, where the file system refuses that, whose pages are dropped before each read.
class cold_file {
 public:
  explicit cold_file(const char* path) : file_{::open(path, O_RDONLY | O_DIRECT | O_CLOEXEC)} {
    direct_ = file_ >= 0;
    if (!direct_) file_ = ::open(path, O_RDONLY | O_CLOEXEC);
    if (file_ < 0) fail(path, errno);
    const off_t bytes = ::lseek(file_, 0, SEEK_END);
    if (bytes < static_cast<off_t>(read_bytes)) fail(path, ENODATA);
    places_ = (static_cast<std::size_t>(bytes) - read_bytes) / page_bytes + 1;
  }
  cold_file(const cold_file&) = delete;
  cold_file& operator=(const cold_file&) = delete;
  ~cold_file() { ::close(file_); }

  [[nodiscard]] bool direct() const { return direct_; }

  /// Fills `buffer` from the page that the random number picks. False if the bytes are not those of that page.
  [[nodiscard]] bool read(std::uint64_t random, std::byte* buffer) const {
    const std::uint64_t page = random % places_;
    const auto at = static_cast<off_t>(page * page_bytes);
    if (!direct_) (void)::posix_fadvise(file_, at, read_bytes, POSIX_FADV_DONTNEED);
    if (::pread(file_, buffer, read_bytes, at) != static_cast<ssize_t>(read_bytes)) return false;
    std::uint64_t found = 0;
    std::memcpy(&found, buffer, sizeof found);
    return found == page;
  }

 private:
  int file_;
  bool direct_ = false;
  std::uint64_t places_ = 0;
};

/// One of the requests that are outstanding. Only its color's events, and the read that they wait for, touch it.
struct alignas(64) slot {
  std::unique_ptr<std::byte[], void (*)(void*)> buffer{static_cast<std::byte*>(std::aligned_alloc(page_bytes, read_bytes)), &std::free};
  std::uint64_t random = 1;
  std::uint64_t computed = 1;
  std::atomic<std::uint64_t> ended{0};

  std::uint64_t next_random() {
    random ^= random << 13;
    random ^= random >> 7;
    random ^= random << 17;
    return random;
  }
};

class load {
 public:
  explicit load(const asked_for& asked) : asked_{asked}, file_{asked.path}, slots_(colors * requests_each), steps_{bench::churn_steps_in(compute_ns)} {
    for (std::size_t n = 0; n < slots_.size(); ++n) {
      if (slots_[n].buffer == nullptr) throw std::bad_alloc{};
      slots_[n].random = 0x9e3779b97f4a7c15u * (n + 1);
    }
  }

  int run() {
    const double alone_us = wait_alone_us();
    tartan::runtime rt{settings()};
    std::thread watch{[&] { measure(); }};
    rt.post([&] {
      if (!asked_.in_pool) rt.set_workers(asked_.threads);
      for (std::size_t n = 0; n < slots_.size(); ++n) begin(n);
    });
    rt.run_until_idle();
    watch.join();
    if (wrong_.load()) return std::fputs("tartan_disk: wrong result: a read gave other bytes than the file has\n", stderr), 1;
    print(alone_us, rt.workers());
    return 0;
  }

 private:
  [[nodiscard]] tartan::options settings() const {
    tartan::options with;
    with.workers = asked_.cpus;
    with.scheduler = "default";
    with.stall_after = {};
    (asked_.in_pool ? with.blocking_threads : with.max_workers) = asked_.threads;
    return with;
  }

  /// What a handler waits for.
  void wait(slot& s) {
    if (asked_.sleeps) {
      std::this_thread::sleep_for(slow_disk);
    } else if (!file_.read(s.next_random(), s.buffer.get())) {
      wrong_.store(true);
    }
  }
  void compute(slot& s) const { s.computed = bench::churn(s.computed, steps_); }

  /// A request, and the next one after it.
  void begin(std::size_t n) {
    const tartan::color c{1 + n % colors};
    slot& s = slots_[n];
    if (asked_.in_pool) {
      tartan::blocking(c, [this, &s] { wait(s); }, [this, n](const tartan::result<void>& waited) {
        if (!waited) return wrong_.store(true);
        finish(n);
      });
    } else {
      tartan::post(c, [this, &s, n] {
        wait(s);
        finish(n);
      });
    }
  }
  void finish(std::size_t n) {
    slot& s = slots_[n];
    compute(s);
    s.ended.store(s.ended.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    if (!over_.load(std::memory_order_relaxed)) begin(n);
  }

  /// Median time of what a handler waits for, while nothing else goes on.
  double wait_alone_us() {
    std::vector<std::uint64_t> took(idle_reads);
    for (std::uint64_t& each : took) {
      const std::uint64_t began = bench::now_ns();
      wait(slots_[0]);
      each = bench::now_ns() - began;
    }
    std::nth_element(took.begin(), took.begin() + idle_reads / 2, took.end());
    return static_cast<double>(took[idle_reads / 2]) / 1e3;
  }

  [[nodiscard]] std::uint64_t ended() const {
    std::uint64_t sum = 0;
    for (const slot& each : slots_) sum += each.ended.load(std::memory_order_relaxed);
    return sum;
  }
  /// On a thread of its own, which sleeps meanwhile.
  void measure() {
    std::this_thread::sleep_for(warm_up);
    const std::uint64_t before = ended();
    const bench::process_usage used_before = bench::process_usage::now();
    const std::uint64_t began = bench::now_ns();
    std::this_thread::sleep_for(std::chrono::duration<double>{asked_.seconds});
    used_ = bench::process_usage::now().since(used_before);
    lasted_s_ = static_cast<double>(bench::now_ns() - began) / 1e9;
    requests_ = ended() - before;
    over_.store(true);
  }

  void print(double alone_us, unsigned workers) const {
    const auto requests = static_cast<double>(std::max<std::uint64_t>(requests_, 1));
    std::printf("{\"question\": \"blocking_disk\", \"contender\": \"%s\", \"wait\": \"%s\", \"workers\": %u, \"threads\": %u, \"direct\": %d, "
                "\"requests\": %.0f, \"requests_per_s\": %.6g, \"cpu_us\": %.6g, \"voluntary_switches\": %.6g, \"wait_alone_us\": %.6g}\n",
                asked_.in_pool ? "pool" : "handler", asked_.sleeps ? "sleep" : "disk", workers, asked_.threads, file_.direct() ? 1 : 0, requests,
                requests / lasted_s_, used_.cpu_s() * 1e6 / requests, used_.voluntary_switches / requests, alone_us);
  }

  asked_for asked_;
  cold_file file_;
  std::vector<slot> slots_;
  std::size_t steps_;
  std::atomic<bool> over_{false};
  std::atomic<bool> wrong_{false};
  // Written before over_, read after the run.
  std::uint64_t requests_ = 0;
  double lasted_s_ = 1;
  bench::process_usage used_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 7) {
    std::fprintf(stderr, "usage: %s handler|pool disk|sleep <CPUs> <threads> <seconds> <file>\n", argv[0]);
    return 2;
  }
  const asked_for asked{std::string_view{argv[1]} == "pool", std::string_view{argv[2]} == "sleep", static_cast<unsigned>(std::strtoul(argv[3], nullptr, 10)),
                        static_cast<unsigned>(std::strtoul(argv[4], nullptr, 10)), std::strtod(argv[5], nullptr), argv[6]};
  if (asked.cpus == 0 || asked.threads < asked.cpus || !(asked.seconds > 0)) {
    std::fprintf(stderr, "%s: there is a CPU at least, a thread for each, and some time\n", argv[0]);
    return 2;
  }
  load all{asked};
  return all.run();
}
