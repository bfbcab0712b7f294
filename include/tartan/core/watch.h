#pragma once
/// The latest value of something, for any number of coroutines that wait until it changes.

#include <cstdint>
#include <memory>
#include <tartan/core/last_values.h>
#include <utility>

namespace tartan {

/// A value that is replaced now and then, such as a configuration: `w.set(x)` replaces it, `co_await reader.next()`
/// waits for one that this reader has not seen.
///
/// A reader that is slower than the changes sees the latest value and not those in between. For every value there is
/// broadcast. Readers get copies; what is costly to copy goes in as a std::shared_ptr<const T>.
/// Color: none of its own: usable from all colors at once, and a coroutine goes on in its own.
/// Threads: any number set, also outside of events; the last one to do so wins.
/// Lifetime: must outlive the use of its readers, and must not be destroyed while a coroutine waits in it: that ends
/// the program with a message. A coroutine that close() wakes may destroy it.
/// Limits: keeps one value.
/// Order: no reader sees an older value after a newer one.
/// Cost: one allocation for each value; one short lock to set or read, held longer by some 50 ns for each reader that
/// waits; a post to each of these.
template <class T>
class watch {
  static_assert(detail::copied_to_readers<T>,
                "each reader gets a copy of the value; of what cannot be copied use a std::shared_ptr");

 public:
  /// Errors: std::bad_alloc, and what T's constructor throws.
  explicit watch(T first) : values_{1, "a watch"} { values_.add(std::make_shared<const T>(std::move(first))); }
  watch(const watch&) = delete;
  watch& operator=(const watch&) = delete;

  /// Replaces the value, and wakes all readers that wait. The old value is destroyed here, or by the last reader that
  /// copies it.
  ///
  /// Errors: false, and the new value is destroyed, if it was closed. std::bad_alloc, and what T's constructor throws;
  /// then nothing has changed.
  bool set(T value) { return values_.add(std::make_shared<const T>(std::move(value))); }

  /// The latest value, also after close().
  [[nodiscard]] T get() const {
    std::uint64_t next = 0;
    const detail::kept_value kept = values_.latest(next);
    return *static_cast<const T*>(kept.get());
  }

  /// No more values come: readers see the last one, if they have not, and then errc::end_of_stream.
  void close() noexcept { values_.close(); }

  /// Knows which value it has seen. A copy has seen the same.
  ///
  /// Threads: one coroutine, or thread, at a time. Lifetime: must not be moved or destroyed while a coroutine waits in
  /// next().
  class reader {
   public:
    /// `co_await r.next()`: the latest value, as soon as it is one that this reader has not seen. A new reader has seen
    /// none, so the first call does not wait.
    ///
    /// Errors: errc::end_of_stream if it has seen the last value of a closed watch; errc::canceled if it would have to
    /// wait and the coroutine was asked to end. Throws what T's copy constructor throws; the value counts as seen.
    [[nodiscard]] auto next() noexcept {
      return detail::read_operation<T, detail::when_behind::skips>{*from_, seen_, nullptr};
    }

    /// The latest value at once, which it has seen from now on.
    [[nodiscard]] T get() {
      const detail::kept_value kept = from_->latest(seen_);
      return *static_cast<const T*>(kept.get());
    }

    /// Whether there is a value that it has not seen.
    [[nodiscard]] bool changed() const noexcept { return from_->added() != seen_; }

   private:
    friend class watch;
    explicit reader(detail::last_values& from) noexcept : from_{&from} {}

    detail::last_values* from_;
    std::uint64_t seen_ = 0;  ///< number of the value that follows
  };

  /// A reader that has seen nothing.
  [[nodiscard]] reader subscribe() noexcept { return reader{values_}; }

 private:
  mutable detail::last_values values_;
};

}  // namespace tartan
