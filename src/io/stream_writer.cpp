// Writing at once at each append would be a system call for each piece of a response. Writing when asked to would be one more thing
// to forget. So the first append to an idle writer posts an event to the back of the stream's color: by then the event that
// appends is over, and others of this color that were there before, and what they all have queued goes in one gathered write.
//
// A write refers to the queue's slices while it is in flight, and a writer may be destroyed meanwhile: so the queue is shared with
// the callback of the write, and its front does not change before that is called. If it fails meanwhile, what is in flight is set
// aside: what is queued later is dropped at once, however long that write waits.
#include <tartan/io/stream_writer.h>

#include <algorithm>
#include <array>
#include <new>
#include <tartan/core/post.h>
#include <tartan/io/transfer.h>

namespace tartan {

namespace detail {

/// Color: the stream's.
class outgoing : public std::enable_shared_from_this<outgoing> {
 public:
  outgoing(slot_key on, channel_kind kind, color where, const writer_limits& limits, std::source_location site)
      : level_{limits.marks}, most_{limits.most_bytes}, on_{on}, where_{where}, site_{site}, kind_{kind} {}

  [[nodiscard]] buf::chain& queue() noexcept { return queue_; }
  [[nodiscard]] const buf::gate& level() const noexcept { return level_; }
  [[nodiscard]] buf::gate& level() noexcept { return level_; }
  [[nodiscard]] color where() const noexcept { return where_; }

  void queued() {
    where_.assert_here(site_);
    if (level_.error()) return clear();
    level_.enter(queue_.size() - level_.level());
    if (queue_.size() > most_) return fail(std::make_error_code(std::errc::no_buffer_space));
    news_ = true;
    if (!busy_) begin();
  }

  void fail(std::error_code error) noexcept {
    if (!level_.error()) level_.fail(error);
    if (writing_ && in_flight_.empty()) set_aside();
    clear();
  }

 private:
  void clear() noexcept { queue_ = buf::chain{}; }

  /// The write in flight needs what it refers to, and nothing behind that.
  void set_aside() noexcept {
    in_flight_ = std::move(queue_);
    try {
      in_flight_ = in_flight_.take(std::min(in_flight_.size(), stream_writer::most_bytes_per_write));
    } catch (const std::bad_alloc&) {  // so all of it stays a while
    }
  }

  void begin() {
    post(where_, [self = shared_from_this()] { self->turn(); }, site_);
    busy_ = true;
  }

  /// The event: writes what there is, or calls marks that lie behind nothing.
  void turn() {
    busy_ = false;
    news_ = false;
    if (level_.error()) return clear();
    if (queue_.empty()) {
      const at_end next{*this};
      return queue_.drop(0);
    }
    const std::size_t count = queue_.gather(parts_, stream_writer::most_bytes_per_write);
    const std::span<const std::span<const std::byte>> parts = std::span{parts_}.first(count);
    busy_ = writing_ = true;
    try {
      start_io<write_op>([self = shared_from_this()](const result<std::size_t>& done) { self->wrote(done); }, site_, on_, kind_, parts);
    } catch (const std::bad_alloc&) {
      busy_ = writing_ = false;
      fail(std::make_error_code(std::errc::not_enough_memory));
    }
  }

  void wrote(const result<std::size_t>& done) {
    busy_ = writing_ = false;
    in_flight_ = buf::chain{};
    if (!done) return fail(done.error());
    if (level_.error()) return clear();
    level_.leave(*done);
    const at_end next{*this};
    queue_.drop(*done);
  }

  /// Also when a mark throws.
  struct at_end {
    outgoing& of;
    ~at_end() { of.go_on(); }
  };
  void go_on() noexcept {
    if (busy_ || level_.error() || (queue_.empty() && !news_)) return;
    try {
      begin();
    } catch (const std::bad_alloc&) {
      fail(std::make_error_code(std::errc::not_enough_memory));
    }
  }

  buf::chain queue_;
  buf::chain in_flight_;  ///< what is being written, if this has failed meanwhile
  buf::gate level_;
  std::size_t most_;
  slot_key on_;
  color where_;
  std::source_location site_;
  channel_kind kind_;
  bool busy_ = false;     ///< an event is posted, or a write is in flight
  bool writing_ = false;  ///< a write is in flight
  bool news_ = false;     ///< something was queued since the last turn: bytes, or a mark behind nothing
  std::array<std::span<const std::byte>, stream_writer::most_parts_per_write> parts_;
};

std::shared_ptr<outgoing> make_outgoing(slot_key on, channel_kind kind, color where, const writer_limits& limits, std::source_location site) {
  return std::make_shared<outgoing>(on, kind, where, limits, site);
}

void abandon(outgoing& of) noexcept { of.fail(errc::closed); }
buf::chain& queue_of(outgoing& of) noexcept { return of.queue(); }
buf::gate& gate_of(outgoing& of) noexcept { return of.level(); }
const buf::gate& gate_of(const outgoing& of) noexcept { return of.level(); }
color color_of(const outgoing& of) noexcept { return of.where(); }
void queued(outgoing& of) { of.queued(); }

}  // namespace detail

stream_writer::stream_writer(const byte_stream& to, const writer_limits& limits, std::source_location site)
    : state_{detail::make_outgoing(to.key(), to.kind(), to.is_open() ? to.color() : current_color(), limits, site)} {}

stream_writer::stream_writer(const pipe::write_end& to, const writer_limits& limits, std::source_location site)
    : stream_writer{static_cast<const byte_stream&>(to), limits, site} {}

}  // namespace tartan
