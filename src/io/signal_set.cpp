#include <tartan/io/signal_set.h>

#include <pthread.h>
#include <sys/signalfd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <memory>
#include <string>
#include <system_error>
#include <tartan/core/runtime.h>

#include "core/fatal.h"
#include "core/lifecycle.h"
#include "core/runtime_state.h"
#include "core/signals.h"
#include "io/service.h"

namespace tartan {

namespace detail {

namespace {

/// That these signals are this object's, until it is closed.
class signal_claim final : public slot_extra {
 public:
  explicit signal_claim(const sigset_t& all) : all_{all} {
    if (const std::error_code taken = claim_signals(all)) throw std::system_error{taken, "tartan::signal_set: another has it"};
  }
  signal_claim(const signal_claim&) = delete;
  signal_claim& operator=(const signal_claim&) = delete;
  ~signal_claim() override { give_back_signals(all_); }

 private:
  sigset_t all_;
};

bool can_be_waited_for(int number) noexcept {
  constexpr std::array never{SIGKILL, SIGSTOP, SIGSEGV, SIGBUS, SIGFPE, SIGILL};
  return number > 0 && number < NSIG && std::find(never.begin(), never.end(), number) == never.end();
}

slot_key open_signals(runtime_state& rt, std::initializer_list<int> signals, color c, std::source_location site) {
  if (rt.life().running()) {
    fatal({"a signal_set was made while the runtime runs: its threads cannot block the signals just then, at ", place(site)});
  }
  const auto refuse = [](int error, const std::string& what) { throw std::system_error{error, std::system_category(), what}; };
  sigset_t all;
  sigemptyset(&all);
  for (const int number : signals) {
    if (!can_be_waited_for(number) || sigaddset(&all, number) != 0) refuse(EINVAL, "tartan::signal_set: signal " + std::to_string(number));
  }
  io_service& service = io_service::of(rt);
  if (!service.system().is_kernel()) refuse(ENOTSUP, "tartan::signal_set: the simulated system has no signals");
  auto claim = std::make_unique<signal_claim>(all);
  const int descriptor = ::signalfd(-1, &all, SFD_NONBLOCK | SFD_CLOEXEC);
  if (descriptor < 0) refuse(errno, "signalfd");
  const result<slot_key> opened = service.open(descriptor, c, std::nullopt, std::move(claim), {.then = at_end::waits_end});
  if (!opened) {
    service.system().close(descriptor);
    throw std::system_error{opened.error(), "tartan::signal_set"};
  }
  // Last, when nothing else can fail: after an error the signals still do what they did before.
  if (const int error = ::pthread_sigmask(SIG_BLOCK, &all, nullptr); error != 0) {
    service.close(*opened->slot);
    refuse(error, "pthread_sigmask");
  }
  rt.life().block_signals(all, site);
  return *opened;
}

}  // namespace

io_wait::step next_signal_op::attempt(io_slot& on) noexcept {
  signalfd_siginfo about{};
  ssize_t got = 0;
  do {
    got = on.service().system().read(on.descriptor(), &about, sizeof about);
  } while (got == -EINTR);
  if (got == -EAGAIN) return step::would_block;
  if (got < 0) return fail(static_cast<int>(-got));
  number_ = static_cast<int>(about.ssi_signo);
  return step::done;
}

}  // namespace detail

signal_set::signal_set(runtime& rt, std::initializer_list<int> signals, tartan::color c, std::source_location site)
    : io_object{detail::open_signals(rt.state(), signals, c, site)} {}

}  // namespace tartan
