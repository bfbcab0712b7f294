#pragma once
// A second process of one run.

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

#include "bench/harness/process.h"

namespace bench {

/// Runs `body` in a process of its own, which ends when `body` returns or throws, or when this one dies.
template <class F>
[[nodiscard]] pid_t start_child(F body) {
  const pid_t parent = getpid();
  std::fflush(stdout);
  const pid_t child = fork();
  if (child < 0) std::exit((std::perror("fork"), 1));
  if (child > 0) return child;
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent) _exit(1);
  int status = 0;
  try {
    body();
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    status = 1;
  }
  std::fflush(nullptr);
  _exit(status);
}

/// What it has used, with its own children. Ends this process if it has failed.
inline process_usage await_child(pid_t child) {
  int status = 0;
  rusage used{};
  if (wait4(child, &status, 0, &used) != child) std::exit((std::perror("wait4"), 1));
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    std::exit((std::fprintf(stderr, "the other process of this run ended with status %d\n", status), 1));
  }
  return process_usage::from(used);
}

/// A server in a process of its own, that SIGTERM ends.
class server_process {
 public:
  template <class F>
  explicit server_process(F serve) : id_{start_child(std::move(serve))} {}
  server_process(const server_process&) = delete;
  server_process& operator=(const server_process&) = delete;
  ~server_process() {
    if (id_ > 0) static_cast<void>(end());
  }

  [[nodiscard]] pid_t id() const { return id_; }
  /// What it has used, with its own children.
  process_usage end() {
    rusage used{};
    kill(id_, SIGTERM);
    wait4(std::exchange(id_, 0), nullptr, 0, &used);
    return process_usage::from(used);
  }

 private:
  pid_t id_;
};

}  // namespace bench
