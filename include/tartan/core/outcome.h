#pragma once
/// What a coroutine has left when it ended: a value or an exception. Library code.

#include <exception>
#include <memory>
#include <type_traits>
#include <utility>

namespace tartan::detail {

/// Nothing yet, a value, or an exception.
template <class T>
class outcome {
 public:
  outcome() noexcept {}
  outcome(const outcome&) = delete;
  outcome& operator=(const outcome&) = delete;
  ~outcome() { clear(); }

  template <class... Args>
  void emplace(Args&&... args) {
    clear();
    std::construct_at(std::addressof(value_), std::forward<Args>(args)...);
    holds_ = holding::value;
  }
  void fail(std::exception_ptr exception) noexcept {
    clear();
    std::construct_at(&exception_, std::move(exception));
    holds_ = holding::exception;
  }

  [[nodiscard]] bool empty() const noexcept { return holds_ == holding::nothing; }
  [[nodiscard]] bool failed() const noexcept { return holds_ == holding::exception; }

  /// Moves the other's value or exception here; a value whose move throws becomes that exception.
  void take_from(outcome& other) noexcept {
    if (other.failed()) return fail(std::move(other.exception_));
    if (other.empty()) return;
    if constexpr (std::is_nothrow_move_constructible_v<T>) {
      emplace(std::move(other.value_));
    } else {
      try {
        emplace(std::move(other.value_));
      } catch (...) {
        fail(std::current_exception());
      }
    }
  }

  /// The exception, if there is one; then there is none any more.
  [[nodiscard]] std::exception_ptr take_exception() noexcept {
    if (!failed()) return nullptr;
    std::exception_ptr taken = std::move(exception_);
    clear();
    return taken;
  }

  /// The value, or throws the exception.
  [[nodiscard]] T take() {
    if (failed()) std::rethrow_exception(take_exception());
    return std::move(value_);
  }

 private:
  enum class holding : unsigned char { nothing, value, exception };

  void clear() noexcept {
    if (holds_ == holding::value) std::destroy_at(std::addressof(value_));
    if (holds_ == holding::exception) std::destroy_at(&exception_);
    holds_ = holding::nothing;
  }

  union {
    T value_;
    std::exception_ptr exception_;
  };
  holding holds_ = holding::nothing;
};

template <>
class outcome<void> {
 public:
  void emplace() noexcept { done_ = true; }
  void fail(std::exception_ptr exception) noexcept { exception_ = std::move(exception); }
  [[nodiscard]] bool empty() const noexcept { return !done_ && exception_ == nullptr; }
  [[nodiscard]] bool failed() const noexcept { return exception_ != nullptr; }
  void take_from(outcome& other) noexcept {
    exception_ = std::move(other.exception_);
    done_ = other.done_;
  }
  [[nodiscard]] std::exception_ptr take_exception() noexcept { return std::exchange(exception_, nullptr); }
  void take() {
    if (failed()) std::rethrow_exception(take_exception());
  }

 private:
  std::exception_ptr exception_;
  bool done_ = false;
};

/// A reference, kept as a pointer.
template <class T>
class outcome<T&> {
 public:
  void emplace(T& value) noexcept { value_.emplace(&value); }
  void fail(std::exception_ptr exception) noexcept { value_.fail(std::move(exception)); }
  [[nodiscard]] bool empty() const noexcept { return value_.empty(); }
  [[nodiscard]] bool failed() const noexcept { return value_.failed(); }
  void take_from(outcome& other) noexcept { value_.take_from(other.value_); }
  [[nodiscard]] std::exception_ptr take_exception() noexcept { return value_.take_exception(); }
  [[nodiscard]] T& take() { return *value_.take(); }

 private:
  outcome<T*> value_;
};

/// Calls f and keeps what it gives or throws.
template <class T, class F>
void fill_outcome(outcome<T>& into, F&& f) noexcept {
  try {
    if constexpr (std::is_void_v<T>) {
      std::forward<F>(f)();
      into.emplace();
    } else {
      into.emplace(std::forward<F>(f)());
    }
  } catch (...) {
    into.fail(std::current_exception());
  }
}

}  // namespace tartan::detail
