#pragma once
/// Backpressure: a count of bytes that says when there are too many, and when there are few again.

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <system_error>
#include <tartan/core/chain.h>
#include <tartan/core/result.h>
#include <tartan/core/task.h>

namespace tartan::buf {

/// Between how many bytes a queue is kept. Two marks and not one, so that who waits comes back for more than a byte.
struct watermarks {
  std::size_t high_bytes = 256 * 1024;
  std::size_t low_bytes = 64 * 1024;  ///< not above high_bytes
};

/// Counts what enters and leaves, and lets coroutines wait for it.
///
/// Color: one, that of whoever uses it: it has no lock.
/// Lifetime: destroyed, it ends what waits with errc::closed.
/// Limits: none of its own: it says that there is too much, and holds nobody who does not ask.
class gate {
 public:
  /// Errors: std::invalid_argument if the low mark is above the high one.
  explicit gate(watermarks at = {});
  gate(const gate&) = delete;
  gate& operator=(const gate&) = delete;
  ~gate() { end_all(closed_error()); }

  void enter(std::size_t bytes) noexcept;
  /// Errors: ends the program if more leaves than is there.
  void leave(std::size_t bytes) noexcept;

  [[nodiscard]] std::size_t level() const noexcept { return static_cast<std::size_t>(entered_ - left_); }

  /// True from when the level rises above the high mark until it has fallen to the low one.
  [[nodiscard]] bool above_high() const noexcept { return above_; }

  /// An operation of ready() and flushed().
  class wait final : public tartan::detail::operation {
   public:
    wait(wait&& before_it_waits) noexcept : at_{before_it_waits.at_}, for_ready_{before_it_waits.for_ready_} {}
    wait& operator=(wait&&) = delete;
    ~wait() {
      if (in_line_) at_->remove(*this);
    }

    [[nodiscard]] bool await_ready() const noexcept { return false; }
    template <tartan::detail::colored_promise Promise>
    [[nodiscard]] bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
      who_ = &self.promise().in();
      if (at_->is_over(*this, who_->cancel_requested())) return who_->at_once(self);
      return who_->wait(self, *this);
    }
    result<> await_resume() const noexcept { return error_; }

    /// Asked by its chain: leaves the line.
    bool cancel() noexcept override;
    [[nodiscard]] const char* name() const noexcept override { return "a gate of bytes"; }

   private:
    friend class gate;
    wait(gate& at, bool for_ready) noexcept : at_{&at}, for_ready_{for_ready} {}

    gate* at_;
    tartan::detail::chain* who_ = nullptr;
    wait* next_ = nullptr;
    wait* previous_ = nullptr;
    std::uint64_t until_ = 0;  ///< of flushed(): what has to have left
    std::error_code error_;
    bool for_ready_;
    bool in_line_ = false;
  };

  /// `co_await g.ready()` waits while above_high().
  ///
  /// Errors: what fail() was told; errc::closed if the gate is destroyed; errc::canceled.
  [[nodiscard]] wait ready() noexcept { return wait{*this, true}; }

  /// Waits until all that has entered by then has left; what enters later does not matter.
  ///
  /// Errors: as of ready().
  [[nodiscard]] wait flushed() noexcept { return wait{*this, false}; }

  /// Nothing more will leave: what waits, now and later, ends with this error; the level is 0 from now on.
  void fail(std::error_code error) noexcept;
  [[nodiscard]] std::error_code error() const noexcept { return error_; }

 private:
  struct line {
    wait* first = nullptr;
    wait* last = nullptr;
  };

  [[nodiscard]] static std::error_code closed_error() noexcept { return errc::closed; }
  [[nodiscard]] line& line_of(const wait& one) noexcept { return one.for_ready_ ? ready_ : flushed_; }
  /// If not, it is in line.
  [[nodiscard]] bool is_over(wait& one, bool canceled) noexcept;
  void remove(wait& one) noexcept;
  void end(wait& one, std::error_code error) noexcept;
  void end_all(std::error_code error) noexcept;

  watermarks marks_;
  std::uint64_t entered_ = 0;
  std::uint64_t left_ = 0;
  line ready_;
  line flushed_;  ///< in the order of what they wait for
  std::error_code error_;
  bool above_ = false;
};

}  // namespace tartan::buf
