#pragma once
/// A spawned coroutine: the bottom of a chain, known to its runtime. Library code; programs use spawn.h.

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <new>
#include <source_location>
#include <tartan/core/chain.h>
#include <tartan/core/frame.h>
#include <tartan/core/outcome.h>
#include <tartan/core/task.h>
#include <tuple>
#include <type_traits>
#include <utility>

namespace tartan::detail {

class group_state;
class root;

/// The lists that a root is in.
enum class membership : std::uint8_t { of_runtime, of_group };

/// What is the same for all spawned coroutines.
///
/// Lifetime: counted: one for the coroutine until it has ended, one for its handle, one for who joins it.
class root : public chain, public pooled {
 public:
  virtual ~root();

  /// Makes it known to the runtime and posts its start. False: the runtime refuses; the caller's reference is all that is left.
  [[nodiscard]] bool launch() noexcept;

  void keep() noexcept;
  void let_go() noexcept;

  /// True: has ended already, take the outcome. False: `joiner` will be completed. Joining twice, or from another runtime, ends the program.
  [[nodiscard]] bool join(chain& joiner) noexcept;

  /// The handle is gone: reports an exception that nobody has asked for, now or when it ends. Releases the handle's reference.
  void detach() noexcept;

  /// No worker runs, or it was never started: destroys the coroutine. Releases the coroutine's reference.
  void drop() noexcept;

 protected:
  root(runtime_state& rt, color where, std::source_location site, unsigned references, group_state* group) noexcept;

  /// Makes the coroutine, in its color. Throws what its function throws.
  [[nodiscard]] virtual std::coroutine_handle<> open() = 0;
  /// Keeps the outcome and destroys the coroutine and what it was given, in the color where it ended.
  virtual void close() noexcept = 0;
  virtual void fail(std::exception_ptr exception) noexcept = 0;
  [[nodiscard]] virtual bool failed() const noexcept = 0;
  [[nodiscard]] virtual std::exception_ptr take_exception() noexcept = 0;

 private:
  friend class group_state;
  friend class root_list;
  friend class root_registry;
  struct events;

  [[nodiscard]] bool enlist() noexcept;
  void start() noexcept;
  void finish() noexcept final;
  void report() noexcept;

  struct links {
    root* previous = nullptr;
    root* next = nullptr;
  };

  [[nodiscard]] group_state* group() const noexcept { return static_cast<group_state*>(owner_); }

  alignas(8) std::byte join_[8];  ///< a join_word
  alignas(4) std::byte count_[4];
  std::uint8_t shard_ = 0;        ///< of the registry
  bool asked_[2] = {};            ///< by membership: it is in the list of those that were asked to cancel
  links links_[2];                ///< by membership
};

template <class T>
class root_of : public root {
 public:
  [[nodiscard]] outcome<T>& result() noexcept { return result_; }

 protected:
  using root::root;

  void fail(std::exception_ptr exception) noexcept final { result_.fail(std::move(exception)); }
  bool failed() const noexcept final { return result_.failed(); }
  std::exception_ptr take_exception() noexcept final { return result_.take_exception(); }

  /// By close().
  void end(task<T>& coroutine) noexcept {
    if (!coroutine) return;
    result_.take_from(coroutine.result());
    coroutine.reset();
  }

 private:
  outcome<T> result_;
};

/// Of a task that was made before.
template <class T>
class task_root final : public root_of<T> {
 public:
  task_root(runtime_state& rt, color where, std::source_location site, unsigned references, group_state* group, task<T>&& coroutine) noexcept
      : root_of<T>{rt, where, site, references, group}, coroutine_{std::move(coroutine)} {}

 private:
  std::coroutine_handle<> open() override { return coroutine_.begin(*this); }
  void close() noexcept override { this->end(coroutine_); }

  task<T> coroutine_;
};

/// Of a function and its arguments, called in the coroutine's color.
template <class T, class F, class... Args>
class call_root final : public root_of<T> {
 public:
  template <class G, class... Given>
  call_root(runtime_state& rt, color where, std::source_location site, unsigned references, group_state* group, G&& f, Given&&... args)
      : root_of<T>{rt, where, site, references, group} {
    ::new (static_cast<void*>(call_)) call{F(std::forward<G>(f)), arguments(std::forward<Given>(args)...)};
  }
  call_root(const call_root&) = delete;
  call_root& operator=(const call_root&) = delete;
  ~call_root() override { destroy_call(); }

 private:
  using arguments = std::tuple<Args...>;
  struct call {
    F f;
    arguments args;
  };
  [[nodiscard]] call& kept() noexcept { return *std::launder(reinterpret_cast<call*>(call_)); }

  std::coroutine_handle<> open() override {
    coroutine_ = std::apply(std::move(kept().f), std::move(kept().args));
    return coroutine_.begin(*this);
  }
  void close() noexcept override {
    this->end(coroutine_);
    destroy_call();
  }
  void destroy_call() noexcept {
    if (std::exchange(has_call_, false)) kept().~call();
  }

  task<T> coroutine_;
  bool has_call_ = true;
  alignas(call) std::byte call_[sizeof(call)];
};

/// A reference to a root.
template <class T>
class root_ref {
 public:
  root_ref() noexcept = default;
  explicit root_ref(root_of<T>* counted) noexcept : root_{counted} {}
  root_ref(root_ref&& other) noexcept : root_{std::exchange(other.root_, nullptr)} {}
  root_ref& operator=(root_ref&&) = delete;
  ~root_ref() {
    if (root_ != nullptr) root_->let_go();
  }
  [[nodiscard]] root_of<T>* get() const noexcept { return root_; }

 private:
  root_of<T>* root_ = nullptr;
};

}  // namespace tartan::detail
