#pragma once
/// What spawn gives: to wait for a coroutine, or to ask it to end.

#include <coroutine>
#include <source_location>
#include <tartan/core/awaited_callable.h>
#include <tartan/core/root.h>
#include <tartan/core/task.h>
#include <utility>

namespace tartan {

template <class T>
class join_handle;

namespace detail {

[[noreturn]] void empty_handle(std::source_location site) noexcept;

/// Waits for a root.
template <class T>
class join_operation final : public operation {
 public:
  explicit join_operation(root_ref<T> of) noexcept : root_{std::move(of)} {}
  join_operation(join_operation&&) noexcept = default;

  [[nodiscard]] bool await_ready() const noexcept { return false; }
  template <colored_promise Promise>
  [[nodiscard]] bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
    chain& joiner = self.promise().in();
    return root_.get()->join(joiner) ? joiner.at_once(self) : joiner.wait(self, *this);
  }
  T await_resume() { return root_.get()->result().take(); }

  /// Nobody else can want the result: the coroutine is asked to end, and the wait goes on until it has.
  bool cancel() noexcept override {
    root_.get()->cancel();
    return false;
  }
  [[nodiscard]] const char* name() const noexcept override { return "the end of a coroutine"; }
  [[nodiscard]] std::source_location about() const noexcept override { return root_.get()->site(); }

 private:
  root_ref<T> root_;
};

}  // namespace detail

/// Owns the wish to know how a spawned coroutine ends. Dropping it detaches the coroutine, which goes on.
///
/// Threads: one at a time, but cancel() from any at any time.
/// Lifetime: must not outlive the runtime; that ends the program with a message.
template <class T = void>
class join_handle {
 public:
  join_handle() noexcept = default;
  join_handle(join_handle&& other) noexcept : root_{std::exchange(other.root_, nullptr)} {}
  join_handle& operator=(join_handle&& other) noexcept {
    if (this != &other) {
      detach();
      root_ = std::exchange(other.root_, nullptr);
    }
    return *this;
  }
  ~join_handle() { detach(); }

  /// Whether there is a coroutine; false after detach, and if the runtime refused to spawn it.
  [[nodiscard]] explicit operator bool() const noexcept { return root_ != nullptr; }

  /// `co_await handle.join()`: waits until it has ended; gives its result or throws its exception, in the joiner's color.
  ///
  /// If the joiner is asked to cancel, so is the coroutine; the wait goes on until it has ended.
  /// Errors: an empty handle, joining twice, or from a coroutine of another runtime, ends the program.
  [[nodiscard]] auto join(std::source_location site = std::source_location::current()) & { return join_at(site); }
  /// The same for a handle without a name. gcc before 13 refuses it: see docs/guide/coroutines.md, "Mistakes".
  template <class Handle = join_handle>
  [[nodiscard]] auto join(std::source_location site = std::source_location::current()) && {
    detail::check_awaited_handle<Handle>();
    return join_at(site);
  }

  /// Asks the coroutine to end: what it waits for, now or later, ends with errc::canceled. Nothing for an empty handle.
  ///
  /// Threads: any. Does not wait.
  void cancel() noexcept {
    if (root_ != nullptr) root_->cancel();
  }

  /// Lets the coroutine go on without anybody who waits for it.
  ///
  /// Errors: an exception that leaves it, or has left it already, goes to options.on_exception, in its color; where nothing runs any
  /// more, on this thread or on the one that ends the runtime.
  void detach() noexcept {
    if (root_ != nullptr) std::exchange(root_, nullptr)->detach();
  }

  /// Library code.
  explicit join_handle(detail::root_of<T>* counted) noexcept : root_{counted} {}

 private:
  [[nodiscard]] auto join_at(std::source_location site) {
    if (root_ == nullptr) detail::empty_handle(site);
    root_->keep();
    return detail::join_operation<T>{detail::root_ref<T>{root_}};
  }

  detail::root_of<T>* root_ = nullptr;
};

}  // namespace tartan
