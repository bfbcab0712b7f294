#pragma once
/// What fork() does to a runtime: its threads are missing in the child.

namespace tartan::detail {

/// While it lives, a child of fork() is told that it must not use something that has threads.
///
/// fork and exec, posix_spawn, system and popen stay possible: the mark matters to what uses the thing in the child.
/// Threads: any. Source: contract 14.
class fork_guard {
 public:
  using mark_function = void (*)(void*) noexcept;

  /// Calls mark(what) in each child, on its only thread, before fork() returns there. It must be async-signal-safe.
  ///
  /// Errors: std::system_error.
  fork_guard(mark_function mark, void* what);
  fork_guard(const fork_guard&) = delete;
  fork_guard& operator=(const fork_guard&) = delete;
  ~fork_guard();

 private:
  friend struct fork_registry;

  mark_function mark_;
  void* what_;
  fork_guard* next_ = nullptr;
  fork_guard* previous_ = nullptr;
};

/// Ends a child of fork() that uses a runtime which its parent had started.
[[noreturn]] void used_after_fork() noexcept;

}  // namespace tartan::detail
