#pragma once
/// Operations on files: at once if that would not block, else off the workers. Library code; programs use file.h.

#include <concepts>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <source_location>
#include <span>
#include <string>
#include <system_error>
#include <tartan/core/blocking.h>
#include <tartan/core/chain.h>
#include <tartan/core/color.h>
#include <tartan/core/event.h>
#include <tartan/core/frame.h>
#include <tartan/core/result.h>
#include <tartan/core/task.h>
#include <tartan/io/file_descriptor.h>
#include <type_traits>
#include <utility>

namespace tartan {

class file;

namespace detail {

/// Closed with the last file or operation that has it.
using shared_descriptor = std::shared_ptr<file_descriptor>;

/// What all operations have: the descriptor, kept open, and how it ended.
class file_step {
 public:
  explicit file_step(shared_descriptor on) noexcept : on_{std::move(on)} {
    if (on_ == nullptr) error_ = make_error_code(errc::closed);
  }
  void fail(std::error_code error) noexcept { error_ = error; }

 protected:
  [[nodiscard]] int descriptor() const noexcept { return on_->get(); }
  [[nodiscard]] bool failed() const noexcept { return static_cast<bool>(error_); }

  shared_descriptor on_;
  std::error_code error_;
};

/// Reads or writes all of a span at an offset, or up to the end of the file; or appends all of it.
class file_transfer : public file_step {
 public:
  using value_type = std::size_t;
  enum class kind : std::uint8_t { read, write, append };

  file_transfer(shared_descriptor on, kind way, std::uint64_t offset, std::byte* data, std::size_t bytes) noexcept
      : file_step{std::move(on)}, data_{data}, bytes_{bytes}, offset_{offset}, way_{way} {}

  /// On a worker: whether it is done.
  [[nodiscard]] bool try_now() noexcept;
  /// On a blocking thread: the rest.
  void finish() noexcept;
  [[nodiscard]] result<value_type> take() noexcept { return failed() ? result<value_type>{error_} : result<value_type>{done_}; }

 private:
  [[nodiscard]] std::int64_t move(bool only_without_blocking) noexcept;

  std::byte* data_;
  std::size_t bytes_;
  std::uint64_t offset_;
  std::size_t done_ = 0;
  kind way_;
};

class file_size : public file_step {
 public:
  using value_type = std::uint64_t;
  explicit file_size(shared_descriptor on) noexcept : file_step{std::move(on)} {}
  [[nodiscard]] bool try_now() const noexcept { return failed(); }
  void finish() noexcept;
  [[nodiscard]] result<value_type> take() const noexcept { return failed() ? result<value_type>{error_} : result<value_type>{size_}; }

 private:
  std::uint64_t size_ = 0;
};

class file_sync : public file_step {
 public:
  using value_type = void;
  file_sync(shared_descriptor on, bool data_only) noexcept : file_step{std::move(on)}, data_only_{data_only} {}
  [[nodiscard]] bool try_now() const noexcept { return failed(); }
  void finish() noexcept;
  [[nodiscard]] result<> take() const noexcept { return error_; }

 private:
  bool data_only_;
};

class file_close : public file_step {
 public:
  using value_type = void;
  explicit file_close(shared_descriptor on) noexcept : file_step{std::move(on)} {}
  [[nodiscard]] bool try_now() const noexcept { return failed(); }
  void finish() noexcept;
  [[nodiscard]] result<> take() const noexcept { return error_; }
};

class file_open {
 public:
  using value_type = file;
  file_open(std::string path, int flags, unsigned permissions) noexcept
      : path_{std::move(path)}, flags_{flags}, permissions_{permissions} {}
  [[nodiscard]] bool try_now() const noexcept { return false; }
  void finish() noexcept;
  void fail(std::error_code error) noexcept { error_ = error; }
  [[nodiscard]] result<file> take() noexcept;

 private:
  [[nodiscard]] int open_now(int flags) const noexcept;
  [[nodiscard]] int open_without_waiting() const noexcept;

  std::string path_;
  int flags_;
  unsigned permissions_;
  shared_descriptor made_;
  std::error_code error_;
};

/// Hands a coroutine's job to the pool, behind all that wait there. Gives an error if not even one thread can be started.
[[nodiscard]] std::error_code start_file_job(runtime_state& rt, blocking_job& job) noexcept;

/// An operation that can be awaited. Op: try_now, finish, fail, take.
template <class Op>
class [[nodiscard]] file_awaitable final : public Op, private blocking_job {
 public:
  using value_type = result<typename Op::value_type>;

  template <class... Args>
  explicit file_awaitable(std::in_place_t /*tag*/, Args&&... args) noexcept : Op{std::forward<Args>(args)...} {
    blocking_job::run = [](blocking_job& job) noexcept {
      auto& self = static_cast<file_awaitable&>(job);
      self.finish();
      self.waiter_->resume();
    };
  }

  [[nodiscard]] bool await_ready() const noexcept { return false; }
  template <colored_promise Promise>
  [[nodiscard]] bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
    waiter_ = &self.promise().in();
    site = waiter_->site();
    where = waiter_->where();
    if (this->try_now()) return waiter_->at_once(self);
    waiter_->suspend(self, suspension::blocking_job);
    const std::error_code refused = start_file_job(waiter_->runtime(), *this);
    if (!refused) return true;
    this->fail(refused);
    return waiter_->at_once(self);
  }
  value_type await_resume() {
    waiter_->resumed();
    return this->take();
  }

 private:
  chain* waiter_ = nullptr;
};

/// An operation that calls back. Lifetime: its own, until it has called back or was dropped.
template <class Op, class F>
class file_callback final : public Op, public pooled, private blocking_job {
 public:
  template <class G, class... Args>
  file_callback(runtime_state& rt, color into, G&& f, std::source_location at, Args&&... args)
      : Op{std::forward<Args>(args)...}, f_{std::forward<G>(f)}, rt_{&rt} {
    site = at;
    where = into;
    blocking_job::run = [](blocking_job& job) noexcept {
      auto& self = static_cast<file_callback&>(job);
      self.finish();
      self.complete();
    };
    blocking_job::drop = [](blocking_job& job) noexcept { delete static_cast<file_callback*>(&job); };
    event_.ops = &ops;
    event_.site = at;
    put_hints(event_, f_);
    put_self(event_, this);
  }

  void start() noexcept {
    if (!this->try_now()) {
      const std::error_code refused = start_blocking(*rt_, *this);
      if (!refused) return;
      this->fail(refused);
    }
    complete();
  }

 private:
  void complete() noexcept { submit_completion(*rt_, where, event_); }
  static file_callback& of(event& e) noexcept { return self_in<file_callback>(e); }
  static void run_event(event& e) {
    const std::unique_ptr<file_callback> self{&of(e)};
    self->f_(self->take());
  }
  static void drop_event(event& e) noexcept { delete &of(e); }
  static constexpr event_ops ops{.run = &run_event, .drop = &drop_event, .from = origin::io, .pooled = false, .hinted = is_hinted<F>};

  event event_;
  F f_;
  runtime_state* rt_;
};

/// Gets the result of an operation.
template <class F, class Op>
concept file_completion = std::is_invocable_v<std::decay_t<F>&, result<typename Op::value_type>>;

/// Starts an operation that calls back, in the running color.
template <class Op, class F, class... Args>
void start_file(F&& f, std::source_location site, Args&&... args) {
  refuse_task<std::decay_t<F>&, result<typename Op::value_type>>();
  runtime_state& rt = required_runtime("an operation on a file", site);
  using callback = file_callback<Op, std::decay_t<F>>;
  (new callback(rt, here_now()->running, std::forward<F>(f), site, std::forward<Args>(args)...))->start();
}

}  // namespace detail

}  // namespace tartan
