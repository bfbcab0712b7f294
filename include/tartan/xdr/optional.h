#pragma once
/// XDR's optional data.

#include <memory>
#include <utility>

namespace tartan::xdr {

/// `T *p`: a T or none. Owns it; a copy is deep. T may be incomplete where the optional is declared, so a T may hold one.
///
/// Cost: an allocation for each T.
template <class T>
class optional {
 public:
  optional() noexcept = default;
  optional(T value) : value_{std::make_unique<T>(std::move(value))} {}
  optional(const optional& other) : value_{other.value_ ? std::make_unique<T>(*other.value_) : nullptr} {}
  optional(optional&&) noexcept = default;
  optional& operator=(optional other) noexcept {
    value_.swap(other.value_);
    return *this;
  }
  ~optional() = default;

  [[nodiscard]] bool has_value() const noexcept { return value_ != nullptr; }
  explicit operator bool() const noexcept { return has_value(); }
  /// The value, which must be there.
  [[nodiscard]] T& operator*() noexcept { return *value_; }
  [[nodiscard]] const T& operator*() const noexcept { return *value_; }
  [[nodiscard]] T* operator->() noexcept { return value_.get(); }
  [[nodiscard]] const T* operator->() const noexcept { return value_.get(); }

  /// Makes a T in the place of what was there.
  template <class... Args>
  T& emplace(Args&&... args) {
    value_ = std::make_unique<T>(std::forward<Args>(args)...);
    return *value_;
  }
  void reset() noexcept { value_.reset(); }

  friend bool operator==(const optional& a, const optional& b) {
    return a.has_value() == b.has_value() && (!a.has_value() || *a == *b);
  }

 private:
  std::unique_ptr<T> value_;
};

}  // namespace tartan::xdr
