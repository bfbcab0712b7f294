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
  lagged,             ///< a receiver was too slow, and values were lost
};

[[nodiscard]] const std::error_category& error_category() noexcept;
[[nodiscard]] inline std::error_code make_error_code(errc e) noexcept { return {static_cast<int>(e), error_category()}; }

}  // namespace tartan

template <>
struct std::is_error_code_enum<tartan::errc> : std::true_type {};

namespace tartan {

template <class T>
class result;

/// Marks an error on its way into a result.
struct unexpected {
  std::error_code error;
};

namespace detail {
[[noreturn]] void result_misuse(const std::error_code& error) noexcept;
[[noreturn]] void error_without_error() noexcept;

inline std::error_code error_of(std::error_code error) noexcept { return error; }
inline std::error_code error_of(unexpected u) noexcept { return u.error; }
inline std::error_code checked_error(std::error_code error) noexcept {
  if (!error) error_without_error();
  return error;
}

template <class R>
inline constexpr bool is_result = false;
template <class T>
inline constexpr bool is_result<result<T>> = true;

/// As std::expected has it, the error type being std::error_code: which conversions from a value, or from another result, there are.
template <class E>
concept result_error = std::is_same_v<std::remove_cvref_t<E>, std::error_code> || std::is_same_v<std::remove_cvref_t<E>, errc> ||
                       std::is_same_v<std::remove_cvref_t<E>, unexpected>;
template <class T, class U>
concept result_value = !is_result<std::remove_cvref_t<U>> && std::is_constructible_v<T, U>;
template <class T, class From, class U>
concept other_result = !std::is_void_v<T> && !std::is_same_v<T, U> && std::is_constructible_v<T, From> &&
                       (std::is_same_v<T, bool> ||
                        (!std::is_constructible_v<T, result<U>> && !std::is_constructible_v<T, const result<U>&> &&
                         !std::is_convertible_v<result<U>, T> && !std::is_convertible_v<const result<U>&, T>));
}  // namespace detail

/// A value or an error code.
///
/// Errors: reading the value of a failed result ends the program with the error's text; so does giving it an error code that says
/// that there is no error. What T's constructors throw; then an assignment leaves everything as it was, or, from value to value, as T's
/// own assignment leaves it.
template <class T = void>
class [[nodiscard]] result {
  static_assert(!std::is_reference_v<T>, "a result holds a value");

 public:
  using value_type = T;

  /// From whatever makes a T; implicitly only if that is implicit.
  template <class U = T>
    requires(detail::result_value<T, U> && !detail::result_error<U>)
  explicit(!std::is_convertible_v<U, T>) result(U&& value) noexcept(std::is_nothrow_constructible_v<T, U>)
      : value_(std::forward<U>(value)), has_{true} {}
  result(unexpected u) noexcept : error_{detail::checked_error(u.error)} {}
  result(std::error_code error) noexcept : error_{detail::checked_error(error)} {}
  result(errc error) noexcept : error_{error} {}

  result(const result& other)
    requires std::is_copy_constructible_v<T>
      : error_{other.error_}, has_{other.has_} {
    if (has_) std::construct_at(&value_, other.value_);
  }
  result(result&& other) noexcept(std::is_nothrow_move_constructible_v<T>) : error_{other.error_}, has_{other.has_} {
    if (has_) std::construct_at(&value_, std::move(other.value_));
  }
  template <class U>
    requires detail::other_result<T, const U&, U>
  explicit(!std::is_convertible_v<const U&, T>) result(const result<U>& other) : error_{other.error()} {
    if (other) fill(*other);
  }
  template <class U>
    requires detail::other_result<T, U, U>
  explicit(!std::is_convertible_v<U, T>) result(result<U>&& other) : error_{other.error()} {
    if (other) fill(*std::move(other));
  }

  result& operator=(const result& other)
    requires(std::is_copy_constructible_v<T> && std::is_copy_assignable_v<T>)
  {
    if (!other.has_) return fail(other.error_);
    return assign(other.value_);
  }
  result& operator=(result&& other) noexcept(std::is_nothrow_move_constructible_v<T> && std::is_nothrow_move_assignable_v<T>)
    requires(std::is_move_constructible_v<T> && std::is_move_assignable_v<T>)
  {
    if (!other.has_) return fail(other.error_);
    return assign(std::move(other.value_));
  }
  template <class U = T>
    requires(detail::result_value<T, U> && !detail::result_error<U> && std::is_assignable_v<T&, U>)
  result& operator=(U&& value) {
    return assign(std::forward<U>(value));
  }
  template <detail::result_error E>
  result& operator=(const E& error) noexcept {
    return fail(detail::checked_error(detail::error_of(error)));
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

  /// There is no value.
  template <class U>
  void fill(U&& value) {
    std::construct_at(&value_, std::forward<U>(value));
    has_ = true;
  }
  /// The error lies beside the value, not in its place: it is there until the value is.
  template <class U>
  result& assign(U&& value) {
    if (has_) {
      value_ = std::forward<U>(value);
    } else {
      fill(std::forward<U>(value));
      error_ = {};
    }
    return *this;
  }
  result& fail(std::error_code error) noexcept {
    if (std::exchange(has_, false)) std::destroy_at(&value_);
    error_ = error;
    return *this;
  }

  union {
    T value_;
  };
  std::error_code error_{};
  bool has_ = false;
};

/// Success or an error code.
///
/// A std::error_code that says that there is no error means success, so that what a system call left can be given as it is; as
/// `unexpected` it ends the program.
template <>
class [[nodiscard]] result<void> {
 public:
  using value_type = void;

  result() noexcept = default;
  result(unexpected u) noexcept : error_{detail::checked_error(u.error)} {}
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
