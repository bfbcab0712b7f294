// fork() copies the memory and one thread. A runtime in the child has workers that do not exist, tokens of sleepers that will
// never wake and locks that nobody will release: using it hangs, or worse, looks as if it worked until the first wait. It
// cannot be repaired from inside, but it can be named: every started runtime is marked in the child, and ends it when used.

#include "core/fork_guard.h"

#include <pthread.h>
#include <unistd.h>

#include <mutex>
#include <string>
#include <system_error>

#include "core/fatal.h"

namespace tartan::detail {

/// All guards of the process. fork() belongs to the process, not to an object, hence a global.
struct fork_registry {
  std::mutex lock;  // held across fork(), so that the child does not find the list half changed
  fork_guard* first = nullptr;
  bool watching = false;

  void watch();
  void add(fork_guard& guard) noexcept;
  void remove(fork_guard& guard) noexcept;
  void mark_all() noexcept;
};

namespace {

constinit fork_registry registry;

}  // namespace

void fork_registry::watch() {
  if (watching) return;
  const int error = ::pthread_atfork([] { registry.lock.lock(); }, [] { registry.lock.unlock(); },
                                     [] {
                                       registry.mark_all();
                                       registry.lock.unlock();
                                     });
  if (error != 0) throw std::system_error{error, std::system_category(), "tartan: fork() cannot be watched"};
  watching = true;
}

void fork_registry::add(fork_guard& guard) noexcept {
  guard.next_ = first;
  if (first != nullptr) first->previous_ = &guard;
  first = &guard;
}

void fork_registry::remove(fork_guard& guard) noexcept {
  (guard.previous_ != nullptr ? guard.previous_->next_ : first) = guard.next_;
  if (guard.next_ != nullptr) guard.next_->previous_ = guard.previous_;
}

void fork_registry::mark_all() noexcept {
  for (fork_guard* guard = first; guard != nullptr; guard = guard->next_) guard->mark_(guard->what_);
}

fork_guard::fork_guard(mark_function mark, void* what) : mark_{mark}, what_{what} {
  const std::lock_guard held{registry.lock};
  registry.watch();
  registry.add(*this);
}

fork_guard::~fork_guard() {
  const std::lock_guard held{registry.lock};
  registry.remove(*this);
}

void used_after_fork() noexcept {
  fatal({"this runtime was started before fork(): its threads do not exist in process ", std::to_string(::getpid()),
         ", the child. Fork before run(), make a runtime of the child's own, or call exec"});
}

}  // namespace tartan::detail
