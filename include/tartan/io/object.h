#pragma once
/// What all objects with a descriptor have in common.

#include <cstdint>
#include <optional>
#include <source_location>
#include <tartan/core/color.h>
#include <tartan/core/hints.h>
#include <tartan/core/result.h>
#include <tartan/core/strand.h>
#include <tartan/io/address.h>
#include <tartan/io/wait.h>
#include <utility>

namespace tartan {

class runtime;

/// An open descriptor and its color.
///
/// Color: one, given when it is made. Operations are begun in it, which is checked, and end in it: completions, timeouts,
/// cancellations and close cannot race with each other.
/// Threads: moved and destroyed like any object; options, addresses and the descriptor are asked for and set by whoever has it, while
/// nobody else uses it; everything else in its color.
/// Lifetime: must not outlive its runtime, unless it was closed by close() or moved from: that ends the program with
/// its color. Destroying it closes the descriptor in its color: at once if that is where it is destroyed;
/// elsewhere by an event, so that while nothing runs the descriptor stays open until the next run. close() closes at once also then.
/// What still waits ends with errc::closed.
/// Order: operations of one direction are done in the order in which they were begun.
class io_object {
 public:
  io_object(io_object&& other) noexcept : key_{std::exchange(other.key_, {})} {}
  io_object& operator=(io_object&& other) noexcept {
    if (this != &other) {
      abandon();
      key_ = std::exchange(other.key_, {});
    }
    return *this;
  }

  /// The same when it is closed; color{} if it never was open.
  ///
  /// Threads: any.
  [[nodiscard]] tartan::color color() const noexcept { return key_.where; }
  /// Threads: any.
  [[nodiscard]] bool is_open() const noexcept;

  /// Closes now, in its color or while nothing runs: the peer hears of it whatever other workers do. What waits ends with errc::closed,
  /// later. Closing twice does nothing.
  ///
  /// Cost: two system calls; one for an accepted stream on which no operation has waited, or taken more than one event.
  void close(std::source_location site = std::source_location::current()) noexcept;

  /// Whatever waits ends as canceled, later: in both directions. with_timeout and join_handle::cancel end a single operation.
  void cancel(std::source_location site = std::source_location::current()) noexcept;

  /// `stream.hint({.priority = 1})`: what is known of the events that bring news of this descriptor, which what has waited goes on in: among
  /// colors that became ready at the same time the more urgent one is served first. A callback that gets an event of its own, because its
  /// operation was done at once or together with others, has the same hints, unless it has some by with_hints; a coroutine then has its own,
  /// by `co_await hint`. So have events that are not the descriptor's: of timers, of a stream_writer, of what a listener has accepted.
  ///
  /// Color: the object's, or while nothing runs; ends the program elsewhere. Does nothing if it is closed.
  /// Lifetime: they move with the object, and end when it is closed or released, or with the next hint; hint({}) takes them back.
  /// Limits: as hints.
  /// Order: news that is on its way already may still have the old ones. Of one color, nothing is ever reordered. A runtime with one worker
  /// takes from the kernel 32 descriptors at a time, in the order in which they became ready, and serves those before the next.
  /// Cost: that of with_hints; where no object and no handler has any, none.
  void hint(const hints& h, std::source_location site = std::source_location::current()) noexcept;

  /// The descriptor, for system calls that this library does not know, and to be passed on; -1 if closed. It stays this object's.
  [[nodiscard]] int native_handle() const noexcept;

  /// Gives the descriptor to the caller; waiting operations end with errc::closed. -1 if closed.
  ///
  /// The descriptor is non-blocking. Exception: if from_fd found it blocking, it blocks again as soon as no object uses
  /// its open file any more. close() restores it in the same way.
  [[nodiscard]] int release(std::source_location site = std::source_location::current()) noexcept;

  /// setsockopt and getsockopt for options of type int.
  ///
  /// Errors: what the system says; errc::closed.
  result<> set_option(int level, int name, int value) noexcept;
  [[nodiscard]] result<int> option(int level, int name) const noexcept;

  /// Errors: what the system says; errc::closed.
  [[nodiscard]] result<address> local_address() const noexcept;
  [[nodiscard]] result<address> peer_address() const noexcept;

 protected:
  io_object() noexcept = default;
  explicit io_object(detail::slot_key key) noexcept : key_{key} {}
  ~io_object() { abandon(); }

  [[nodiscard]] detail::slot_key key() const noexcept { return key_; }
  /// Whether it is open; if so, ends the program in another color.
  [[nodiscard]] bool check(std::source_location site) const noexcept;

 private:
  void abandon() noexcept;

  detail::slot_key key_;
};

}  // namespace tartan
