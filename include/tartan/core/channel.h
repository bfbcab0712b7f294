#pragma once
/// Values from coroutine to coroutine, in order, with a limit.

#include <coroutine>
#include <cstddef>
#include <memory>
#include <new>
#include <optional>
#include <tartan/core/awaited_callable.h>
#include <tartan/core/result.h>
#include <tartan/core/task.h>
#include <tartan/core/waiting_line.h>
#include <type_traits>
#include <utility>

namespace tartan {

/// How many values a channel holds.
struct capacity {
  std::size_t values;
};

namespace detail {

/// Throws std::invalid_argument for a capacity of none.
std::size_t checked_capacity(std::size_t values);

/// Values in a ring, and who waits for room or for values.
template <class T>
class channel_state {
 public:
  static_assert(std::is_nothrow_move_constructible_v<T> && std::is_nothrow_destructible_v<T>,
                "a value that is moved under a channel's lock must not throw; std::unique_ptr<T> does not");

  /// Somebody who waits to send; the value goes from here.
  struct sender : waiter {
    T* goes = nullptr;
    std::error_code outcome = errc::canceled;
    [[nodiscard]] const char* name() const noexcept final { return "room in a channel"; }
  };
  /// Somebody who waits to receive; the value comes here.
  struct receiver : waiter {
    std::optional<T> came;
    std::error_code outcome = errc::canceled;
    [[nodiscard]] const char* name() const noexcept final { return "a value from a channel"; }
  };

  explicit channel_state(std::size_t values)
      : capacity_{checked_capacity(values)}, ring_{std::allocator<T>{}.allocate(capacity_)} {}
  channel_state(const channel_state&) = delete;
  channel_state& operator=(const channel_state&) = delete;
  ~channel_state() {
    while (size_ != 0) static_cast<void>(pop());
    std::allocator<T>{}.deallocate(ring_, capacity_);
  }

  /// Moves from the value if it was sent. errc::busy: it has to wait, and does if there is a waiter.
  std::error_code send(T& value, sender* waits, chain* who) noexcept {
    waiter* served = nullptr;
    {
      const holding hold{lock_};
      if (closed_) return errc::closed;
      served = receivers_.take_first();
      if (served != nullptr) {
        auto& to = *static_cast<receiver*>(served);
        to.came.emplace(std::move(value));
        to.outcome = {};
      } else if (size_ < capacity_) {
        push(std::move(value));
      } else {
        if (waits != nullptr) senders_.join(*waits, *who);
        return errc::busy;
      }
    }
    if (served != nullptr) waiting_line::complete(*served);
    return {};
  }

  /// As send, the other way around.
  std::error_code receive(std::optional<T>& value, receiver* waits, chain* who) noexcept {
    waiter* served = nullptr;
    {
      const holding hold{lock_};
      if (size_ == 0) {
        if (closed_) return errc::end_of_stream;
        if (waits != nullptr) receivers_.join(*waits, *who);
        return errc::busy;
      }
      value.emplace(pop());
      served = senders_.take_first();
      if (served != nullptr) {
        auto& from = *static_cast<sender*>(served);
        push(std::move(*from.goes));
        from.outcome = {};
      }
    }
    if (served != nullptr) waiting_line::complete(*served);
    return {};
  }

  void close() noexcept {
    waiter* served = nullptr;
    {
      const holding hold{lock_};
      closed_ = true;
      served = all_receivers(all_senders(nullptr));
    }
    waiting_line::complete_all(served);  // who is woken may destroy the channel
  }

  [[nodiscard]] std::size_t size() noexcept {
    const holding hold{lock_};
    return size_;
  }
  [[nodiscard]] std::size_t limit() const noexcept { return capacity_; }

 private:
  // Under the lock: takes all who wait out, oldest first, in front of others.
  waiter* all_receivers(waiter* others) noexcept {
    waiter* newest_first = nullptr;
    while (waiter* const one = receivers_.take_first()) {
      static_cast<receiver*>(one)->outcome = errc::end_of_stream;
      newest_first = waiting_line::in_front(*one, newest_first);
    }
    return waiting_line::turned_around(newest_first, others);
  }
  waiter* all_senders(waiter* others) noexcept {
    waiter* newest_first = nullptr;
    while (waiter* const one = senders_.take_first()) {
      static_cast<sender*>(one)->outcome = errc::closed;
      newest_first = waiting_line::in_front(*one, newest_first);
    }
    return waiting_line::turned_around(newest_first, others);
  }

  void push(T&& value) noexcept {
    std::construct_at(ring_ + (head_ + size_) % capacity_, std::move(value));
    ++size_;
  }
  T pop() noexcept {
    T* const first = ring_ + head_;
    T value = std::move(*first);
    std::destroy_at(first);
    head_ = (head_ + 1) % capacity_;
    --size_;
    return value;
  }

  brief_lock lock_;  // guards all that is below and not constant
  std::size_t capacity_;
  T* ring_;
  std::size_t head_ = 0;
  std::size_t size_ = 0;
  bool closed_ = false;
  waiting_line receivers_{lock_, "a channel"};
  waiting_line senders_{lock_, "a channel"};
};

template <class T>
class send_operation final : public channel_state<T>::sender {
 public:
  send_operation(channel_state<T>& to, T&& value) noexcept : to_{&to}, kept_{std::move(value)} { this->goes = &kept_; }
  send_operation(send_operation&& other) noexcept : to_{other.to_}, kept_{std::move(other.kept_)} { this->goes = &kept_; }

  [[nodiscard]] bool await_ready() const noexcept { return false; }
  template <colored_promise Promise>
  [[nodiscard]] bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
    chain& who = self.promise().in();
    const bool canceled = who.cancel_requested();
    const std::error_code now = to_->send(kept_, canceled ? nullptr : this, &who);
    if (now == errc::busy && !canceled) return who.wait(self, *this);
    this->outcome = now == errc::busy ? errc::canceled : now;
    return who.at_once(self);
  }
  result<> await_resume() const noexcept { return this->outcome; }

 private:
  channel_state<T>* to_;
  T kept_;
};

template <class T>
class receive_operation final : public channel_state<T>::receiver {
 public:
  explicit receive_operation(channel_state<T>& from) noexcept : from_{&from} {}

  [[nodiscard]] bool await_ready() const noexcept { return false; }
  template <colored_promise Promise>
  [[nodiscard]] bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
    chain& who = self.promise().in();
    const bool canceled = who.cancel_requested();
    const std::error_code now = from_->receive(this->came, canceled ? nullptr : this, &who);
    if (now == errc::busy && !canceled) return who.wait(self, *this);
    this->outcome = now == errc::busy ? errc::canceled : now;
    return who.at_once(self);
  }
  result<T> await_resume() noexcept {
    if (this->came) return std::move(*this->came);
    return this->outcome;
  }

 private:
  channel_state<T>* from_;
};

}  // namespace detail

/// A queue with a limit: `co_await c.send(x)` waits for room, `co_await c.receive()` for a value.
///
/// Color: none of its own: usable from all colors at once, and a coroutine goes on in its own.
/// Threads: any; outside of events the try_ forms and close.
/// Lifetime: must not be destroyed while a coroutine waits in it: that ends the program with a message. May be by who close() wakes.
/// Limits: as many values as its capacity says, besides one for each coroutine that waits to send.
/// Order: values arrive in the order in which they were sent; those who wait are served in the order in which they came.
/// Cost: one short lock; a post if somebody waits.
template <class T>
class channel {
 public:
  /// Errors: std::invalid_argument for a capacity of 0; std::bad_alloc.
  explicit channel(capacity holds) : state_{holds.values} {}
  channel(const channel&) = delete;
  channel& operator=(const channel&) = delete;

  /// Errors: errc::closed; errc::canceled if it would have to wait and the coroutine was asked to end. The value is destroyed then.
  /// gcc before 13 would destroy twice what an aggregate owns that is made in the argument, and refuses an aggregate that is moved there:
  /// name it, or give its class a constructor.
  [[nodiscard]] auto send(T&& value) noexcept {
    detail::check_awaited_value<T>();
    return detail::send_operation<T>{state_, std::move(value)};
  }
  [[nodiscard]] auto send(const T& value)
    requires std::is_copy_constructible_v<T>
  {
    return detail::send_operation<T>{state_, T{value}};
  }

  /// Errors: errc::end_of_stream if it was closed and is empty; errc::canceled if it would have to wait and the coroutine was
  /// asked to end.
  [[nodiscard]] auto receive() noexcept { return detail::receive_operation<T>{state_}; }

  /// Errors: errc::busy if it is full, errc::closed; the value is left where it was.
  result<> try_send(T&& value) noexcept { return state_.send(value, nullptr, nullptr); }
  result<> try_send(const T& value) {
    T copy{value};
    return state_.send(copy, nullptr, nullptr);
  }

  /// Errors: errc::busy if it is empty, errc::end_of_stream if it was also closed.
  result<T> try_receive() noexcept {
    std::optional<T> value;
    const std::error_code error = state_.receive(value, nullptr, nullptr);
    if (error) return error;
    return std::move(*value);
  }

  /// No more values come: those who wait to send get errc::closed; what is in it can still be received, then end_of_stream.
  void close() noexcept { state_.close(); }

  /// Values in it.
  [[nodiscard]] std::size_t size() const noexcept { return state_.size(); }
  [[nodiscard]] std::size_t limit() const noexcept { return state_.limit(); }

 private:
  mutable detail::channel_state<T> state_;
};

}  // namespace tartan
