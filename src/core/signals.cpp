// A signal handler gets a number and nothing else, at any instruction of any thread, so what it needs lies in globals: the one
// exception to "no globals" beside the current worker, and the reason why one runtime at a time may have signals.
//
// The hard part is the end: the handler may be running on another thread while the runtime goes away. So a handler announces
// itself before it reads the target, and release() takes the target away before it waits for the announced ones. Both sides
// write one word and then read the other's; sequentially consistent operations keep them from missing each other.

#include "core/signals.h"

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <mutex>
#include <string>
#include <system_error>

#include "core/fatal.h"
#include "core/memory.h"

namespace tartan::detail {

namespace {

/// What stop_signals has in hand, for the handler.
struct signal_desk {
  real_memory::atomic<stop_function> stop{nullptr};
  real_memory::atomic<void*> target{nullptr};  // null: nobody; written last when taken, first when given back
  real_memory::atomic<int> handlers{0};        // running now
  real_memory::atomic<int> received{0};
  real_memory::atomic<pid_t> process{0};
  std::array<real_memory::atomic<std::uint64_t>, NSIG> within_ns{};  // by signal: relaxed, written before its handler is installed

  // Guards the rest; a handler reads `former` of its own signal only, which was written before it was installed.
  std::mutex lock;
  const stop_signals* owner = nullptr;
  std::array<bool, NSIG> taken{};
  std::array<bool, NSIG> claimed{};  // by objects
  std::array<struct sigaction, NSIG> former{};
};

constinit signal_desk desk;

/// In a child of fork: does what the signal did before, now and from now on.
void hand_to_former(int number) noexcept {
  if (::sigaction(number, &desk.former[static_cast<std::size_t>(number)], nullptr) != 0) return;
  ::raise(number);  // comes when the handler returns
}

void on_signal(int number) {
  const int saved = errno;
  if (desk.process.load(std::memory_order_relaxed) != ::getpid()) {
    hand_to_former(number);
  } else if (desk.received.fetch_add(1, std::memory_order_relaxed) != 0) {
    ::_exit(128 + number);
  } else {
    desk.handlers.fetch_add(1, std::memory_order_seq_cst);  // pairs with release(): it sees us, or we see no target
    if (void* target = desk.target.load(std::memory_order_seq_cst); target != nullptr) {
      desk.stop.load(std::memory_order_relaxed)(target, desk.within_ns[static_cast<std::size_t>(number)].load(std::memory_order_relaxed));
    }
    desk.handlers.fetch_sub(1, std::memory_order_release);  // pairs with release()'s wait
  }
  errno = saved;
}

bool is_ours(const struct sigaction& action) noexcept {
  return (action.sa_flags & SA_SIGINFO) == 0 && action.sa_handler == &on_signal;
}

/// Puts back what was there before us; under the desk's lock.
void put_back(const signal_calls& calls, int number) noexcept {
  const auto index = static_cast<std::size_t>(number);
  desk.taken[index] = false;
  struct sigaction now{};
  if (calls.action(number, nullptr, &now) != 0 || !is_ours(now)) return;  // the program has its own there now
  // Cannot fail for a number that was accepted before; if it did, the handler would find no target and do nothing.
  static_cast<void>(calls.action(number, &desk.former[index], nullptr));
}

// The program's own system calls should not notice. ThreadSanitizer runs a handler late, at the next library call of the thread:
// a sleep that were restarted would never come to one.
constexpr int restart = TARTAN_THREAD_SANITIZER != 0 ? 0 : SA_RESTART;

/// Installs the handler; false, with errno, if the system refuses; under the desk's lock.
bool take(const signal_calls& calls, int number) noexcept {
  struct sigaction action{};
  action.sa_handler = &on_signal;
  action.sa_flags = restart;
  sigfillset(&action.sa_mask);  // one after the other: of two that come together the first is the first
  const auto index = static_cast<std::size_t>(number);
  if (calls.action(number, nullptr, &desk.former[index]) != 0) return false;  // before ours can run and look for it
  if (calls.action(number, &action, nullptr) != 0) return false;
  desk.taken[index] = true;
  return true;
}

/// Takes the target away from handlers that are still to come, and waits for those that are under way; under the desk's lock.
void leave_desk() noexcept {
  desk.target.store(nullptr, std::memory_order_seq_cst);  // pairs with on_signal's announcement
  // A child of fork has no thread that ends a handler.
  const bool ours = desk.process.load(std::memory_order_relaxed) == ::getpid();
  while (ours && desk.handlers.load(std::memory_order_seq_cst) != 0) {  // pairs with the end of on_signal
    static_cast<void>(::sched_yield());                                 // it is on another thread, and short
  }
  desk.owner = nullptr;
}

}  // namespace

void stop_signals::stop_on(std::initializer_list<int> signals, std::uint64_t within_ns) {
  const std::lock_guard held{desk.lock};
  if (desk.owner != nullptr && desk.owner != this) {
    fatal({within_ns == 0 ? "stop_on" : "shutdown_on", ": another runtime has the signals already; one at a time can have them"});
  }
  if (desk.owner == nullptr) {
    desk.received.store(0, std::memory_order_relaxed);
    desk.process.store(::getpid(), std::memory_order_relaxed);
    desk.stop.store(stop_, std::memory_order_relaxed);
    desk.target.store(target_, std::memory_order_seq_cst);
    desk.owner = this;
  }
  std::array<bool, NSIG> fresh{};
  for (const int number : signals) {
    const bool valid = number > 0 && number < NSIG;
    if (valid) desk.within_ns[static_cast<std::size_t>(number)].store(within_ns, std::memory_order_relaxed);
    if (valid && desk.taken[static_cast<std::size_t>(number)]) continue;
    const bool claimed = valid && desk.claimed[static_cast<std::size_t>(number)];
    if (valid && !claimed && take(calls_, number)) {
      fresh[static_cast<std::size_t>(number)] = true;
      continue;
    }
    const std::error_code why{claimed ? EBUSY : valid ? errno : EINVAL, std::system_category()};
    for (int undo = 1; undo < NSIG; ++undo) {
      if (fresh[static_cast<std::size_t>(undo)]) put_back(calls_, undo);
    }
    if (std::find(desk.taken.begin(), desk.taken.end(), true) == desk.taken.end()) leave_desk();
    throw std::system_error{why, (within_ns == 0 ? "tartan: stop_on: signal " : "tartan: shutdown_on: signal ") + std::to_string(number)};
  }
}

void stop_signals::release() noexcept {
  const std::lock_guard held{desk.lock};
  if (desk.owner != this) return;
  for (int number = 1; number < NSIG; ++number) {
    if (desk.taken[static_cast<std::size_t>(number)]) put_back(calls_, number);
  }
  leave_desk();
}

std::error_code claim_signals(const sigset_t& all) noexcept {
  const std::lock_guard held{desk.lock};
  for (int number = 1; number < NSIG; ++number) {
    const auto index = static_cast<std::size_t>(number);
    if (sigismember(&all, number) == 1 && (desk.claimed[index] || desk.taken[index])) {
      return std::make_error_code(std::errc::device_or_resource_busy);
    }
  }
  for (int number = 1; number < NSIG; ++number) {
    if (sigismember(&all, number) == 1) desk.claimed[static_cast<std::size_t>(number)] = true;
  }
  return {};
}

void give_back_signals(const sigset_t& all) noexcept {
  const std::lock_guard held{desk.lock};
  for (int number = 1; number < NSIG; ++number) {
    if (sigismember(&all, number) == 1) desk.claimed[static_cast<std::size_t>(number)] = false;
  }
}

signals_blocked::signals_blocked() noexcept {
  sigset_t all;
  sigfillset(&all);
  for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT, SIGPROF}) sigdelset(&all, own);
  if (const int error = ::pthread_sigmask(SIG_SETMASK, &all, &before_); error != 0) {
    fatal({"signals cannot be blocked: ", std::system_category().message(error)});
  }
}

signals_blocked::~signals_blocked() {
  if (const int error = ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); error != 0) {
    fatal({"signals cannot be unblocked: ", std::system_category().message(error)});
  }
}

}  // namespace tartan::detail
