#pragma once
/// Several coroutines awaited together: chains beside each other in one operation of the chain that waits. Library code.

#include <coroutine>
#include <cstddef>
#include <span>
#include <tartan/core/awaitable.h>
#include <tartan/core/chain.h>
#include <tartan/core/result.h>
#include <tartan/core/task.h>
#include <type_traits>
#include <utility>

namespace tartan {

namespace detail {

class branches;

/// A chain that starts in its parent's color, and tells its operation there that it has ended.
class branch final : public chain {
 public:
  branch() noexcept = default;

 private:
  friend class branches;
  struct events;

  void open(branches& of) noexcept;
  void begin(std::coroutine_handle<> bottom) noexcept { run(bottom); }
  void finish() noexcept override;
  [[nodiscard]] branches& owner() noexcept { return *static_cast<branches*>(owner_); }
};
static_assert(sizeof(branch) == sizeof(chain));

/// Starts branches, waits until all have ended, and passes a request to cancel on to them.
///
/// Color: the parent's, for everything.
class branches : public operation {
 public:
  branches(const branches&) = delete;
  branches& operator=(const branches&) = delete;

  bool cancel() noexcept final {
    cancel_all();
    return false;
  }
  [[nodiscard]] branches* as_branches() noexcept final { return this; }
  /// The branches, also those that have ended or have not begun. Threads: while no worker runs.
  [[nodiscard]] std::span<branch> all() noexcept;

 protected:
  branches() noexcept = default;
  ~branches() = default;

  /// Before the first start: the chain that waits, and the place of all branches.
  void open(chain& parent, branch* first, std::size_t count) noexcept;

  template <class T>
  void start(std::size_t index, task<T>& coroutine) noexcept {
    branch& b = prepare(index);
    b.begin(coroutine.begin(b));
  }

  /// After the last start: gives what await_suspend gives.
  [[nodiscard]] bool started(std::coroutine_handle<> self) noexcept;

  /// One more, or less, to wait for besides the branches.
  void hold() noexcept { ++running_; }
  void let_go() noexcept {
    if (--running_ == 0) parent_->complete_here();
  }

  void cancel_all() noexcept;
  [[nodiscard]] chain& parent() noexcept { return *parent_; }

  /// Its outcome is there. The others go on.
  virtual void branch_ended(std::size_t index) noexcept = 0;

 private:
  friend class branch;

  branch& prepare(std::size_t index) noexcept;
  void ended(const branch& which) noexcept;

  chain* parent_ = nullptr;
  branch* first_ = nullptr;
  std::size_t count_ = 0;
  std::size_t running_ = 0;
};

template <class T>
task<T> as_task(task<T>&& coroutine) noexcept {
  return std::move(coroutine);
}
/// What a task can give in the place of an awaitable's result: no reference to what ends with the awaitable.
template <class A>
using task_result_t =
    std::conditional_t<std::is_rvalue_reference_v<awaited_t<A>>, std::remove_reference_t<awaited_t<A>>, awaited_t<A>>;

template <awaitable A>
  requires(!is_task<A>)
task<task_result_t<A>> as_task(A operation) {
  co_return co_await std::move(operation);
}

/// Results stay as they are, other types become one.
template <class T>
struct as_result {
  using type = result<T>;
};
template <class T>
struct as_result<result<T>> {
  using type = result<T>;
};
template <class T>
using result_of_t = typename as_result<T>::type;

template <class A>
using task_value_t = task_result_t<std::decay_t<A>>;

}  // namespace detail

}  // namespace tartan
