// The `Memory` argument that puts a protocol under the explorer: the same interface as tartan::detail::real_memory, with every
// access a step of the exploration.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "explorer.h"
#include "hashing.h"

namespace tartan::model {

/// The bits of a value that fits one machine word.
template <class T>
[[nodiscard]] std::uint64_t bits_of(const T& value) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= sizeof(std::uint64_t));
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  return bits;
}

template <class T>
[[nodiscard]] T value_of(std::uint64_t bits) {
  T value{};
  std::memcpy(static_cast<void*>(&value), &bits, sizeof(T));
  return value;
}

/// A digest of a value of any size, for telling states apart.
template <class T>
[[nodiscard]] std::uint64_t digest_of(const T& value) {
  static_assert(std::is_trivially_copyable_v<T>);
  std::uint64_t digest = sizeof(T);
  for (std::size_t at = 0; at < sizeof(T); at += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, reinterpret_cast<const std::byte*>(&value) + at,
                std::min(sizeof(T) - at, sizeof(std::uint64_t)));
    digest = mix(digest, word);
  }
  return digest;
}

/// An atomic whose loads may be stale and whose every access is a step.
template <class T>
class model_atomic {
 public:
  model_atomic() : model_atomic{T{}} {}
  explicit model_atomic(T value, const char* name = nullptr)
      : location_{explorer::here().add_atomic(bits_of(value), {this, sizeof(T), std::is_pointer_v<T>, name})} {}
  ~model_atomic() {
    if (explorer::active() != nullptr) {
      explorer::active()->drop_atomic(location_);
    }
  }
  model_atomic(const model_atomic&) = delete;
  model_atomic& operator=(const model_atomic&) = delete;

  [[nodiscard]] T load(std::memory_order order) const noexcept {
    return value_of<T>(explorer::here().load(location_, order));
  }
  void store(T value, std::memory_order order) noexcept { explorer::here().store(location_, bits_of(value), order); }
  T exchange(T value, std::memory_order order) noexcept { return modify(operation::exchange, value, order); }

  [[nodiscard]] bool compare_exchange_strong(T& expected, T desired, std::memory_order success,
                                             std::memory_order failure) noexcept {
    return compare_exchange(expected, desired, success, failure, false);
  }
  [[nodiscard]] bool compare_exchange_weak(T& expected, T desired, std::memory_order success,
                                           std::memory_order failure) noexcept {
    return compare_exchange(expected, desired, success, failure, true);
  }

  T fetch_add(T operand, std::memory_order order) noexcept
    requires std::is_integral_v<T>
  {
    return modify(operation::add, operand, order);
  }
  T fetch_sub(T operand, std::memory_order order) noexcept
    requires std::is_integral_v<T>
  {
    return modify(operation::subtract, operand, order);
  }
  T fetch_and(T operand, std::memory_order order) noexcept
    requires std::is_integral_v<T>
  {
    return modify(operation::bit_and, operand, order);
  }
  T fetch_or(T operand, std::memory_order order) noexcept
    requires std::is_integral_v<T>
  {
    return modify(operation::bit_or, operand, order);
  }
  T fetch_xor(T operand, std::memory_order order) noexcept
    requires std::is_integral_v<T>
  {
    return modify(operation::bit_xor, operand, order);
  }

  [[nodiscard]] location_id location() const { return location_; }
  void set_name(const char* name) { explorer::here().name_atomic(location_, name); }

 private:
  T modify(operation what, T operand, std::memory_order order) {
    return value_of<T>(explorer::here().modify(location_, what, bits_of(operand), order));
  }
  bool compare_exchange(T& expected, T desired, std::memory_order success, std::memory_order failure, bool weak) {
    std::uint64_t bits = bits_of(expected);
    const bool done = explorer::here().compare_exchange(location_, bits, bits_of(desired), success, failure, weak);
    if (!done) {
      expected = value_of<T>(bits);
    }
    return done;
  }

  location_id location_;
};

/// Plain shared data; `Ghost` makes it the test's own book-keeping, which is exempt from races but not from the state.
template <class T, bool Ghost>
class model_cell {
 public:
  model_cell() : model_cell{T{}} {}
  explicit model_cell(T value, const char* name = nullptr)
      : value_{value}, cell_{explorer::here().add_plain(digest_of(value), this, name, Ghost)} {}
  ~model_cell() {
    if (explorer::active() != nullptr) {
      explorer::active()->drop_plain(cell_);
    }
  }
  model_cell(const model_cell&) = delete;
  model_cell& operator=(const model_cell&) = delete;

  [[nodiscard]] T get() const noexcept {
    explorer::here().read_plain(cell_, digest_of(value_));
    return value_;
  }
  void set(T value) noexcept {
    explorer::here().write_plain(cell_, digest_of(value));
    value_ = value;
  }
  operator T() const noexcept { return get(); }
  model_cell& operator=(T value) noexcept {
    set(value);
    return *this;
  }
  void set_name(const char* name) { explorer::here().name_plain(cell_, name); }

 private:
  T value_;
  cell_id cell_;
};

template <class T>
using model_plain = model_cell<T, false>;

/// A variable of the test that its threads share: not a step, not a race, but part of the state.
template <class T>
using ghost = model_cell<T, true>;

/// The machine of the C++ memory model.
struct model_memory {
  template <class T>
  using atomic = model_atomic<T>;
  template <class T>
  using plain = model_plain<T>;

  static void light_barrier() noexcept { explorer::here().light_barrier(); }
  static void heavy_barrier() noexcept { explorer::here().heavy_barrier(); }
  static void full_barrier() noexcept { explorer::here().full_barrier(); }
  static void pause() noexcept { explorer::here().pause(); }
  static void relax() noexcept {}
  static void prefetch(const void* /*line*/) noexcept {}
};

}  // namespace tartan::model
