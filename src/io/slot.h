#pragma once
/// One descriptor that is open, or was, or will be.

#include <cstdint>
#include <memory>
#include <optional>
#include <system_error>
#include <tartan/core/color.h>
#include <tartan/core/event.h>
#include <tartan/core/strand.h>
#include <tartan/io/wait.h>

#include "core/memory.h"
#include "io/readiness.h"
#include "io/system.h"

namespace tartan::detail {

class io_service;

/// What one kind of object keeps in its slot besides. Destroyed when it is closed, before the descriptor is.
struct slot_extra {
  virtual ~slot_extra() = default;
  /// The descriptor lives on elsewhere: what the destructor would end is its new owner's.
  virtual void released() noexcept {}
};

/// What becomes of a descriptor at the end of its runtime.
enum class at_end : std::uint8_t {
  goes_on,    ///< it serves what is under way: at a stop, what waits is canceled
  waits_end,  ///< it only brings new work: what waits is canceled when a shutdown begins
  closes,     ///< the same, and it is closed
};

/// How a descriptor ends.
struct slot_manner {
  at_end then = at_end::goes_on;
  bool was_blocking = false;  ///< shared_files has to hear of its end
};

/// A descriptor, its color, the operations that wait on it, and the event that brings news of it.
///
/// A slot is never freed before its runtime is, so that a harvested edge may touch it at any time; its generation tells whether the
/// edge means what is open in it now (right-generation).
/// Color: `where()`, for all that does not say otherwise; or any one thread while the runtime does not run.
class alignas(64) io_slot {
 public:
  io_slot(io_service& of, std::uint32_t index) noexcept;
  io_slot(const io_slot&) = delete;
  io_slot& operator=(const io_slot&) = delete;

  [[nodiscard]] io_service& service() const noexcept { return service_; }
  [[nodiscard]] color where() const noexcept { return where_; }
  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }
  [[nodiscard]] std::uint32_t index() const noexcept { return index_; }
  /// Threads: any; what is open now.
  [[nodiscard]] std::uint32_t generation() const noexcept { return word_.generation(); }
  [[nodiscard]] bool is_open(std::uint32_t generation) const noexcept { return word_.generation() == generation; }

  /// Asks for its edges, once: when it is opened, or before an operation waits. Gives -errno.
  [[nodiscard]] int watch() noexcept;
  [[nodiscard]] bool is_watched() const noexcept { return is_watched_; }
  /// Whether shared_files has to hear of its end.
  [[nodiscard]] bool was_blocking() const noexcept { return was_blocking_; }

  /// By the service, before anybody else knows of it.
  void open(int descriptor, color where, std::optional<strand>&& own, std::unique_ptr<slot_extra> more,
            slot_manner how) noexcept;

  /// Edges, from any worker. Gives whether the event was posted.
  bool ready(std::uint32_t generation, std::uint32_t bits) noexcept {
    if (!word_.set(generation, bits)) return false;
    post_event();
    return true;
  }

  /// Whether a system call in this direction is worth a try: no edge is needed first.
  [[nodiscard]] bool may_try(flow way) const noexcept { return tryable_[index_of(way)]; }
  /// The last call has told that there is nothing (more) in this direction, until the next edge.
  void exhausted(flow way) noexcept { tryable_[index_of(way)] = false; }
  /// The last call was not short: there may be more.
  void not_exhausted(flow way) noexcept { tryable_[index_of(way)] = true; }
  /// Whether news in this direction will be told; else only a system call can find it out.
  [[nodiscard]] bool is_told_of(flow way) const noexcept { return armed_[index_of(way)]; }
  /// The peer has finished: a short read may have left the end of the stream behind, for which no other edge will come.
  [[nodiscard]] bool hung_up() const noexcept { return hung_up_; }

  [[nodiscard]] bool nobody_waits(flow way) const noexcept { return first_[index_of(way)] == nullptr; }
  /// Operations that wait in one direction behind the first, at most; what comes then ends with errc::busy.
  static constexpr std::uint32_t most_behind = 65'535;
  /// Puts an operation in line. False: it is done meanwhile, with a result or an error.
  [[nodiscard]] bool wait(io_wait& op) noexcept;
  void leave(io_wait& op) noexcept;

  /// Operations of this direction that are done and whose events have not come yet.
  [[nodiscard]] std::uint32_t& on_their_way(flow way) noexcept { return on_their_way_[index_of(way)]; }

  /// The line's first operation goes on behind the events that wait meanwhile.
  void go_on() noexcept;

  /// Ends everything that waits with this error, later, each in an event of its own.
  void cancel_all(std::error_code error) noexcept;

  /// Closes: what waits ends with errc::closed. Gives the descriptor, for the caller to close.
  [[nodiscard]] int shut() noexcept;

  /// The post site of the event in which it was opened; none outside of events.
  [[nodiscard]] std::source_location opened_in() const noexcept { return opened_in_; }

  /// No worker runs. Gives how many operations were destroyed that count.
  std::size_t drop_all() noexcept;

  /// After stop, all workers pause: the event will cancel what waits.
  void tell_stop() noexcept;
  /// The same when a shutdown begins, for what only brings new work.
  void tell_shutdown() noexcept {
    if (at_end_ != at_end::goes_on) tell_stop();
  }
  /// Whether what would wait now ends as canceled. Asked only after a stop or shutdown.
  [[nodiscard]] bool refuses_waits() const noexcept;

  /// What schedulers are told of its event, and of its callbacks' own, from the next one on; a poller may post it meanwhile.
  void tell(handler_hints what) noexcept;
  [[nodiscard]] bool is_told() const noexcept { return is_told_; }
  void send_told(event& callbacks) const noexcept;

  /// An edge would not come, but it is worth a try again.
  void retry(flow way) noexcept { static_cast<void>(ready(generation(), readiness<real_memory>::bit_of(way))); }

 private:
  struct events;

  static constexpr unsigned index_of(flow way) noexcept { return static_cast<unsigned>(way); }
  void post_event() noexcept;
  void news();
  void note(std::uint32_t bits) noexcept;
  struct finished;
  void run_line(unsigned n, finished& done);
  void disarm(unsigned n) noexcept;
  [[nodiscard]] bool arm(io_wait& op) noexcept;
  [[nodiscard]] int watch_output() noexcept;
  void want(const io_wait& op) noexcept;
  void tell_to_stop() noexcept;

  // What a round trip takes: one cache line, and the event.
  readiness<real_memory> word_;
  io_service& service_;
  color where_{};
  io_wait* first_[2] = {nullptr, nullptr};  ///< of those that wait, in each direction
  std::uint32_t on_their_way_[2] = {0, 0};
  int descriptor_ = -1;
  bool tryable_[2] = {true, true};
  bool armed_[2] = {false, false};  ///< an edge in this direction posts the event
  bool hung_up_ = false;
  at_end at_end_ = at_end::goes_on;
  bool was_blocking_ = false;
  bool is_watched_ = false;
  bool output_watched_ = false;
  bool is_told_ = false;  ///< its event's hints are not the default

 public:
  io_slot* next_free = nullptr;  ///< the service's
  std::unique_ptr<slot_extra> extra;
  /// An object, or an operation that will give one, has its key. Color: the slot's; while it is closed, under the
  /// service's lock.
  bool is_held = false;
  bool is_kept = false;  ///< closed while it was held; under the service's lock

 private:
  io_wait* last_[2];  ///< where several wait
  std::uint32_t behind_[2] = {0, 0};
  std::uint32_t index_;
  std::optional<strand> own_;
  std::source_location opened_in_;
  event event_;
};

}  // namespace tartan::detail
