#pragma once
/// Values for any number of receivers, each of which gets all of them.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <tartan/core/channel.h>
#include <tartan/core/last_values.h>
#include <utility>

namespace tartan {

/// A queue whose values all receivers get: `b.send(x)` never waits, `co_await receiver.receive()` waits for a value.
///
/// It keeps the last values, as many as its capacity says, whether they were received or not. A receiver that is
/// further behind has lost values: it gets errc::lagged once, and then goes on with the oldest value that is kept. So
/// no receiver slows down the sender or the others. If nothing may be lost, give each receiver a channel of its own,
/// whose sender waits. Receivers get copies; what is costly to copy goes in as a std::shared_ptr<const T>.
/// Color: none of its own: usable from all colors at once, and a coroutine goes on in its own.
/// Threads: any number send, also outside of events.
/// Lifetime: must outlive the use of its receivers, and must not be destroyed while a coroutine waits in it: that ends
/// the program with a message. A coroutine that close() wakes may destroy it.
/// Limits: its capacity. Any number of receivers; one costs nothing while it does not wait.
/// Order: the same for all receivers: that in which the sends took effect.
/// Cost: one allocation for each value; one short lock to send or receive, held longer by some 50 ns for each receiver
/// that waits; a post to each of these.
template <class T>
class broadcast {
  static_assert(detail::copied_to_readers<T>,
                "each receiver gets a copy of the value; of what cannot be copied use a std::shared_ptr");

 public:
  /// Errors: std::invalid_argument for a capacity of 0; std::bad_alloc.
  explicit broadcast(capacity holds) : values_{holds.values, "a broadcast"} {}
  broadcast(const broadcast&) = delete;
  broadcast& operator=(const broadcast&) = delete;

  /// Gives a value to all receivers that there are. Without any it is lost.
  ///
  /// Errors: false, and the value is destroyed, if it was closed. std::bad_alloc, and what T's constructor throws; then
  /// nothing is sent.
  bool send(T value) { return values_.add(std::make_shared<const T>(std::move(value))); }

  /// No more values come: receivers get what they have not received, and then errc::end_of_stream.
  void close() noexcept { values_.close(); }

  /// How many values it keeps.
  [[nodiscard]] std::size_t limit() const noexcept { return values_.limit(); }

  /// Knows which values it has received. A copy goes on from the same place.
  ///
  /// Threads: one coroutine, or thread, at a time. Lifetime: must not be moved or destroyed while a coroutine waits in
  /// receive().
  class receiver {
   public:
    /// `co_await r.receive()`: the next value.
    ///
    /// Errors: errc::lagged if values were lost, lost() says how many; the next call gives the oldest value that is
    /// kept. errc::end_of_stream if it has received the last value of a closed broadcast; errc::canceled if it would
    /// have to wait and the coroutine was asked to end. Throws what T's copy constructor throws; the value counts as
    /// received.
    [[nodiscard]] auto receive() noexcept { return operation{*from_, next_, &lost_}; }

    /// The same without a wait. Errors: errc::busy if no value is there; else as receive().
    result<T> try_receive() { return operation{*from_, next_, &lost_}.try_now(); }

    /// How many values it had lost when it got errc::lagged last; 0 if it never did.
    [[nodiscard]] std::uint64_t lost() const noexcept { return lost_; }

    /// How many values were sent that it has not received, those included that are lost.
    [[nodiscard]] std::uint64_t behind() const noexcept { return from_->added() - next_; }

   private:
    friend class broadcast;
    using operation = detail::read_operation<T, detail::when_behind::is_told>;
    explicit receiver(detail::last_values& from) noexcept : from_{&from}, next_{from.added()} {}

    detail::last_values* from_;
    std::uint64_t next_;
    std::uint64_t lost_ = 0;
  };

  /// A receiver of all values that are sent from now on.
  [[nodiscard]] receiver subscribe() noexcept { return receiver{values_}; }

 private:
  detail::last_values values_;
};

}  // namespace tartan
