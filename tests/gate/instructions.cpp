// What tests/gate/run counts: the instructions of posts and of events, on one worker, between marks that callgrind sees. Without valgrind the marks
// do nothing. With --built-by it says only which compiler and flags have made it.

#include <array>
#include <cstddef>
#include <cstdio>
#include <string_view>
#include <tartan/core/runtime.h>
#include <tartan/core/strand.h>
#include <valgrind/callgrind.h>
#include <vector>

namespace {

constexpr std::size_t events = 1024;  // tests/gate/run divides by it

/// As large as an event without an allocation can be.
struct empty_event {
  std::array<std::size_t, 5> payload{};
  void operator()() const {}
};

/// All that is counted is run twice: the first time fills pools and tables, and has no marks.
struct marks {
  void begin() const {
    if (!counts) return;
    CALLGRIND_ZERO_STATS;
    CALLGRIND_TOGGLE_COLLECT;
  }
  void end(const char* name) const {
    if (!counts) return;
    CALLGRIND_TOGGLE_COLLECT;
    CALLGRIND_DUMP_STATS_AT(name);
  }
  /// Calls of `f` with 0, 1, 2, ...
  template <class F>
  void around(const char* name, F f) const {
    begin();
    for (std::size_t n = 0; n < events; ++n) f(n);
    end(name);
  }

  bool counts;
};

/// One worker, so every color is at home.
class program {
 public:
  program() : rt_{one_worker()}, here_{rt_}, there_{rt_} {
    for (std::size_t n = 0; n < events; ++n) idle_.emplace_back(rt_);
  }

  void run(const marks& m) {
    in_here([&] { m.around("post_to_the_running_strand", [this](std::size_t) { here_.post(empty_event{}); }); });
    in_here([&] { m.around("append_by_strand", [this](std::size_t) { there_.post(empty_event{}); }); });
    in_here([&] { m.around("append_by_value", [this](std::size_t) { rt_.post(tartan::color{2}, empty_event{}); }); });
    in_here([&] { m.around("activate_by_strand", [this](std::size_t n) { idle_[n].post(empty_event{}); }); });
    in_here([&] { m.around("activate_by_value", [this](std::size_t n) { rt_.post(tartan::color{100 + n}, empty_event{}); }); });
    rt_.post(tartan::color{1}, [&] {
      m.around("post_to_the_running_value", [this](std::size_t) { rt_.post(tartan::color{1}, empty_event{}); });
    });
    rt_.run_until_idle();
    in_here([&] {
      here_.post([&m] { m.begin(); });
      for (std::size_t n = 0; n < events; ++n) here_.post(empty_event{});
      here_.post([&m] { m.end("run"); });
    });
  }

 private:
  static tartan::options one_worker() {
    tartan::options with;
    with.workers = 1;
    with.stall_after = {};  // no other thread
    return with;
  }
  template <class F>
  void in_here(F f) {
    here_.post(f);
    rt_.run_until_idle();
  }

  tartan::runtime rt_;
  tartan::strand here_;
  tartan::strand there_;
  std::vector<tartan::strand> idle_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::string_view{argv[1]} == "--built-by") {
    std::puts(TARTAN_BUILT_BY);
    return 0;
  }
  program under_count;
  under_count.run({.counts = false});
  under_count.run({.counts = true});
}
