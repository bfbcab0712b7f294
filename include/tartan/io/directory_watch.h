#pragma once
/// Changes of what a directory holds.

#include <cstdint>
#include <source_location>
#include <string>
#include <tartan/core/color.h>
#include <tartan/core/result.h>
#include <tartan/io/object.h>
#include <tartan/io/wait.h>
#include <utility>

namespace tartan {

/// What has happened.
enum class change_kind : std::uint8_t {
  created,     ///< there is a new name: a file, a directory, a link
  written,     ///< a file that was open for writing was closed
  modified,    ///< a file's bytes have changed, or it was cut
  attributes,  ///< permissions, owner, times
  moved_away,  ///< renamed, or moved elsewhere: the old name
  moved_here,  ///< renamed, or moved from elsewhere: the new name
  removed,     ///< the name is gone
  overflow,    ///< changes came faster than they were read: some are lost; look at everything again. Without a name
  gone,        ///< the directory itself was removed, moved or unmounted: nothing more will come. Without a name
};

/// One change in a directory.
struct directory_change {
  std::string name;  ///< in the directory, without its path
  change_kind kind = change_kind::created;
};

namespace detail {

class next_change_op : public io_wait {
 public:
  using value_type = directory_change;
  explicit next_change_op(slot_key on) noexcept : io_wait{on, flow::in} {}
  [[nodiscard]] const char* name() const noexcept final { return "a change of a directory"; }
  [[nodiscard]] result<value_type> take() noexcept { return error() ? result<value_type>{error()} : result<value_type>{std::move(change_)}; }

 private:
  step attempt(io_slot& on) noexcept final;
  directory_change change_;
};

}  // namespace detail

/// Tells what changes in one directory; not in those below it.
///
/// Color: see io_object. Each operation comes in two forms: awaited, and with a callback.
/// Limits: the system keeps fs.inotify.max_queued_events (16384) changes that were not read; then there is one `overflow`.
class directory_watch : private io_object {
 public:
  /// Closed.
  directory_watch() noexcept = default;

  /// Begins to watch, in the running color or in `c`: what changes from now on will be told.
  ///
  /// Errors: what the system says: std::errc::no_such_file_or_directory, not_a_directory, no_space_on_device if this user watches
  /// fs.inotify.max_user_watches already.
  [[nodiscard]] static result<directory_watch> open(const std::string& path, std::source_location site = std::source_location::current());
  [[nodiscard]] static result<directory_watch> open(runtime& rt, const std::string& path, tartan::color c = {});

  /// The next change.
  ///
  /// Errors: errc::canceled, errc::closed; errc::end_of_stream after `gone`.
  /// Order: that of the changes. Equal ones that follow each other may be told as one.
  [[nodiscard]] auto next() noexcept { return detail::io_awaitable<detail::next_change_op>{std::in_place, key()}; }
  template <detail::completion_of<detail::next_change_op> F>
  void next(F&& f, std::source_location site = std::source_location::current()) {
    detail::start_io<detail::next_change_op>(std::forward<F>(f), site, key());
  }

  using io_object::cancel;
  using io_object::close;
  using io_object::color;
  using io_object::hint;
  using io_object::is_open;
  using io_object::native_handle;

 private:
  explicit directory_watch(detail::slot_key key) noexcept : io_object{key} {}
  [[nodiscard]] static result<directory_watch> open_in(detail::runtime_state& rt, const std::string& path, tartan::color c);
};

}  // namespace tartan
