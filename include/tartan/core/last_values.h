#pragma once
/// The last values of a sequence, and the coroutines that wait for the next one. Library code: what watch and broadcast
/// share.

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <tartan/core/result.h>
#include <tartan/core/task.h>
#include <tartan/core/waiting_line.h>
#include <type_traits>
#include <vector>

namespace tartan::detail {

/// Shared, so that a lock is held for a pointer only: values are copied and destroyed outside of it.
using kept_value = std::shared_ptr<const void>;

/// What becomes of a reader whose next value is not kept any more.
enum class when_behind : bool { skips, is_told };

/// One reader's wait, or look. Under the lock while it waits.
struct reading : waiter {
  std::uint64_t next = 0;  ///< number of the value that the reader wants
  std::uint64_t lost = 0;  ///< if the outcome is errc::lagged
  kept_value value;
  std::error_code outcome = errc::canceled;
};

/// A ring of values, numbered from 0 in the order in which they were added.
///
/// Threads: any.
/// Lifetime: may be destroyed by a coroutine that add() or close() wakes.
class last_values {
 public:
  /// `what` names it in messages.
  ///
  /// Errors: std::invalid_argument if it keeps no value; std::bad_alloc.
  last_values(std::size_t kept, const char* what);
  last_values(const last_values&) = delete;
  last_values& operator=(const last_values&) = delete;

  /// Gives the value to all readers that wait. False: closed. The value that it replaces goes with the argument.
  bool add(kept_value value) noexcept;

  /// Looks for the value that the reader wants. errc::busy: it has not been added; with a chain, the reader waits in
  /// line now, and its outcome belongs to the thread that ends the wait.
  [[nodiscard]] std::error_code take(reading& reader, when_behind then, chain* waits) noexcept;

  /// The last value, null if none was added; sets `next` to the number of the one that follows.
  [[nodiscard]] kept_value latest(std::uint64_t& next) noexcept;

  void close() noexcept;

  /// How many have been added.
  [[nodiscard]] std::uint64_t added() noexcept;
  [[nodiscard]] std::size_t limit() const noexcept { return ring_.size(); }

 private:
  [[nodiscard]] waiter* take_all(const kept_value& value, std::error_code outcome) noexcept;
  [[nodiscard]] kept_value& at(std::uint64_t number) noexcept { return ring_[number % ring_.size()]; }

  brief_lock lock_;  // guards all that is below; the size of the ring is constant
  std::vector<kept_value> ring_;
  std::uint64_t added_ = 0;
  bool closed_ = false;
  waiting_line readers_;
};

/// Waits for the next value of a reader, whose place it moves on at the end.
template <class T, when_behind Then>
class read_operation final : public reading {
 public:
  read_operation(last_values& from, std::uint64_t& place, std::uint64_t* count_lost) noexcept
      : from_{&from}, place_{&place}, lost_{count_lost} {}
  read_operation(read_operation&& before_it_waits) noexcept
      : read_operation{*before_it_waits.from_, *before_it_waits.place_, before_it_waits.lost_} {}

  [[nodiscard]] bool await_ready() const noexcept { return false; }
  template <colored_promise Promise>
  [[nodiscard]] bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
    chain& caller = self.promise().in();
    const bool canceled = caller.cancel_requested();
    this->next = *place_;
    const std::error_code now = from_->take(*this, Then, canceled ? nullptr : &caller);
    if (now == errc::busy && !canceled) return caller.wait(self, *this);
    this->outcome = now == errc::busy ? errc::canceled : now;
    return caller.at_once(self);
  }
  result<T> await_resume() { return finish(); }

  [[nodiscard]] const char* name() const noexcept override {
    return Then == when_behind::skips ? "a change of a watch" : "a value from a broadcast";
  }

  /// The same without a wait, outside of coroutines too.
  result<T> try_now() {
    this->next = *place_;
    this->outcome = from_->take(*this, Then, nullptr);
    return finish();
  }

 private:
  result<T> finish() {
    *place_ = this->next;
    if (this->outcome == errc::lagged) *lost_ = this->lost;
    if (this->outcome) return this->outcome;
    return *static_cast<const T*>(this->value.get());
  }

  last_values* from_;
  std::uint64_t* place_;
  std::uint64_t* lost_;
};

/// What values of these channels must be.
template <class T>
concept copied_to_readers = std::is_object_v<T> && std::is_copy_constructible_v<T> && std::is_move_constructible_v<T>;

}  // namespace tartan::detail
