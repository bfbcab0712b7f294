#pragma once
/// What an operation gives: a value or an error; the part of std::expected (C++23) that an operation needs.

#include <memory>
#include <new>
#include <system_error>
#include <type_traits>
#include <utility>

namespace tartan {

/// Errors of the library's own, as std::error_code values of tartan::error_category().
enum class errc {
  end_of_stream = 1,  ///< the peer or producer has finished
  canceled,           ///< the runtime stops, or the operation was asked to end
  timed_out,          ///< the time that was given to it has passed
  busy,               ///< a bounded queue is full
  closed,             ///< the object was closed
};

[[nodiscard]] const std::error_category& error_category() noexcept;
[[nodiscard]] inline std::error_code make_error_code(errc e) noexcept { return {static_cast<int>(e), error_category()}; }

}  // namespace tartan

template <>
struct std::is_error_code_enum<tartan::errc> : std::true_type {};

namespace tartan {

namespace detail {
[[noreturn]] void result_misuse(const std::error_code& error) noexcept;
}

/// Marks an error on its way into a result.
struct unexpected {
  std::error_code error;
};

/// A value or an error code.
///
/// Errors: reading the value of a failed result ends the program with the error's text.
template <class T = void>
class [[nodiscard]] result {
  static_assert(!std::is_reference_v<T>, "a result holds a value");

 public:
  using value_type = T;

  result(const T& value) : value_{value}, has_{true} {}
  result(T&& value) noexcept(std::is_nothrow_move_constructible_v<T>) : value_{std::move(value)}, has_{true} {}
  result(unexpected u) noexcept : error_{u.error} {}
  result(std::error_code error) noexcept : error_{error} {}
  result(errc error) noexcept : error_{error} {}

  result(const result& other)
    requires std::is_copy_constructible_v<T>
      : error_{other.error_}, has_{other.has_} {
    if (has_) std::construct_at(&value_, other.value_);
  }
  result(result&& other) noexcept(std::is_nothrow_move_constructible_v<T>) : error_{other.error_}, has_{other.has_} {
    if (has_) std::construct_at(&value_, std::move(other.value_));
  }
  result& operator=(const result& other)
    requires std::is_copy_constructible_v<T>
  {
    return *this = result{other};
  }
  result& operator=(result&& other) noexcept(std::is_nothrow_move_constructible_v<T>) {
    if (this != &other) {
      std::destroy_at(this);
      std::construct_at(this, std::move(other));
    }
    return *this;
  }
  ~result() {
    if (has_) std::destroy_at(&value_);
  }

  [[nodiscard]] bool has_value() const noexcept { return has_; }
  explicit operator bool() const noexcept { return has_; }

  [[nodiscard]] T& value() & { return checked(); }
  [[nodiscard]] const T& value() const& { return const_cast<result*>(this)->checked(); }
  [[nodiscard]] T&& value() && { return std::move(checked()); }
  [[nodiscard]] T& operator*() & { return checked(); }
  [[nodiscard]] const T& operator*() const& { return const_cast<result*>(this)->checked(); }
  [[nodiscard]] T&& operator*() && { return std::move(checked()); }
  T* operator->() { return &checked(); }
  const T* operator->() const { return &const_cast<result*>(this)->checked(); }

  /// The error; an empty code if there is a value.
  [[nodiscard]] std::error_code error() const noexcept { return error_; }

  template <class U>
  [[nodiscard]] T value_or(U&& otherwise) const& {
    return has_ ? value_ : static_cast<T>(std::forward<U>(otherwise));
  }
  template <class U>
  [[nodiscard]] T value_or(U&& otherwise) && {
    return has_ ? std::move(value_) : static_cast<T>(std::forward<U>(otherwise));
  }

 private:
  T& checked() {
    if (!has_) detail::result_misuse(error_);
    return value_;
  }

  union {
    T value_;
  };
  std::error_code error_{};
  bool has_ = false;
};

/// Success or an error code.
template <>
class [[nodiscard]] result<void> {
 public:
  using value_type = void;

  result() noexcept = default;
  result(unexpected u) noexcept : error_{u.error} {}
  result(std::error_code error) noexcept : error_{error} {}
  result(errc error) noexcept : error_{error} {}

  [[nodiscard]] bool has_value() const noexcept { return !error_; }
  explicit operator bool() const noexcept { return !error_; }
  void value() const {
    if (error_) detail::result_misuse(error_);
  }
  void operator*() const { value(); }
  [[nodiscard]] std::error_code error() const noexcept { return error_; }

 private:
  std::error_code error_{};
};

}  // namespace tartan
