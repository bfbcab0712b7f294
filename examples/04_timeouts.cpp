// Shows: time. Waiting for it, a limit on how long something may take, and a timer that is called off.
// Run:   build/release/examples/04_timeouts
// See:   four lines, at once: the program speaks of hours and waits for none.
#include <tartan/tartan.h>

#include <chrono>
#include <cstdio>
#include <functional>
#include <string>

using namespace std::chrono_literals;

// Stands for a call to some server. It can be told to end early, since what it waits for can.
tartan::task<tartan::result<std::string>> ask(std::chrono::milliseconds takes) {
  if (auto waited = co_await tartan::sleep(takes); !waited) co_return waited.error();  // canceled: by a time limit, or by stop
  co_return "an answer";
}

tartan::task<> talk(tartan::timer& watchdog) {
  auto quick = co_await tartan::with_timeout(1h, ask(1ms));
  std::printf("quick: %s\n", quick.value_or("nothing").c_str());

  auto slow = co_await tartan::with_timeout(1ms, ask(1h));
  std::printf("slow: %s\n", slow ? slow->c_str() : slow.error().message().c_str());
  if (slow.error() == tartan::errc::timed_out) std::puts("and what it waited for has ended too");

  if (watchdog.cancel()) std::puts("the watchdog is called off: it will not bark");
}

int main() {
  tartan::runtime rt;
  tartan::timer watchdog{rt};  // in the default color, as the coroutine below: cancel() and bark cannot race
  watchdog.set(1h, [] { std::puts("too late!"); });
  rt.spawn(talk, std::ref(watchdog));
  rt.run_until_idle();  // also waits for timers
}
