#include <tartan/io/directory_watch.h>

#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <tartan/core/runtime.h>

#include "core/runtime_state.h"
#include "io/service.h"

namespace tartan {

namespace detail {

namespace {

constexpr std::uint32_t watched = IN_CREATE | IN_CLOSE_WRITE | IN_MODIFY | IN_ATTRIB | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE |
                                  IN_DELETE_SELF | IN_MOVE_SELF;

std::optional<change_kind> kind_of(std::uint32_t mask) noexcept {
  struct meaning {
    std::uint32_t bits;
    change_kind kind;
  };
  // The directory's own IN_ATTRIB comes with its removal too, so the last ones go first.
  static constexpr std::array meanings{meaning{IN_Q_OVERFLOW, change_kind::overflow},
                                       meaning{IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT | IN_IGNORED, change_kind::gone},
                                       meaning{IN_CREATE, change_kind::created},
                                       meaning{IN_CLOSE_WRITE, change_kind::written},
                                       meaning{IN_MODIFY, change_kind::modified},
                                       meaning{IN_ATTRIB, change_kind::attributes},
                                       meaning{IN_MOVED_FROM, change_kind::moved_away},
                                       meaning{IN_MOVED_TO, change_kind::moved_here},
                                       meaning{IN_DELETE, change_kind::removed}};
  for (const meaning& each : meanings) {
    if ((mask & each.bits) != 0) return each.kind;
  }
  return std::nullopt;
}

/// What was read and not yet told. Color: the slot's.
struct changes_read final : slot_extra {
  alignas(inotify_event) std::array<std::byte, 4096> bytes;
  std::size_t at = 0;
  std::size_t end = 0;
  bool gone = false;

  [[nodiscard]] static changes_read& of(io_slot& slot) noexcept { return static_cast<changes_read&>(*slot.extra); }

  /// Takes one. False: there was none, or none that is told. Errors: std::bad_alloc; then it is still there.
  [[nodiscard]] bool take(directory_change& into) {
    inotify_event head{};
    std::memcpy(&head, bytes.data() + at, sizeof head);
    const std::optional<change_kind> kind = kind_of(head.mask);
    // Of the directory itself there is only its end to tell.
    const bool tells = kind && (head.len != 0 || *kind == change_kind::overflow || *kind == change_kind::gone);
    if (tells) {
      if (head.len != 0) into.name = reinterpret_cast<const char*>(bytes.data() + at + sizeof head);
      into.kind = *kind;
      gone = *kind == change_kind::gone;
    }
    at += sizeof head + head.len;
    return tells;
  }
};

}  // namespace

io_wait::step next_change_op::attempt(io_slot& on) noexcept {
  changes_read& state = changes_read::of(on);
  for (;;) {
    if (state.gone) return fail(make_error_code(errc::end_of_stream));
    while (state.at < state.end) {
      try {
        if (state.take(change_)) return step::done;
      } catch (const std::bad_alloc&) {
        return fail(ENOMEM);
      }
    }
    const ssize_t got = on.service().system().read(on.descriptor(), state.bytes.data(), state.bytes.size());
    if (got == -EINTR) continue;
    if (got == -EAGAIN) return step::would_block;
    if (got < 0) return fail(static_cast<int>(-got));
    state.at = 0;
    state.end = static_cast<std::size_t>(got);
  }
}

}  // namespace detail

result<directory_watch> directory_watch::open_in(detail::runtime_state& rt, const std::string& path, tartan::color c) {
  const result<detail::io_service*> found = detail::io_service::find(rt);
  if (!found) return found.error();
  detail::io_service& service = **found;
  if (!service.system().is_kernel()) return std::make_error_code(std::errc::not_supported);
  auto state = std::make_unique<detail::changes_read>();
  const int descriptor = ::inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  if (descriptor < 0) return std::error_code{errno, std::system_category()};
  if (::inotify_add_watch(descriptor, path.c_str(), detail::watched | IN_ONLYDIR) < 0) {
    const std::error_code why{errno, std::system_category()};
    ::close(descriptor);
    return why;
  }
  const result<detail::slot_key> opened = service.open(descriptor, c, std::nullopt, std::move(state), {.then = detail::at_end::waits_end});
  if (opened) return directory_watch{*opened};
  ::close(descriptor);
  return opened.error();
}

result<directory_watch> directory_watch::open(const std::string& path, std::source_location site) {
  detail::runtime_state& rt = detail::required_runtime("directory_watch::open", site);
  return open_in(rt, path, detail::here_now()->running);
}

result<directory_watch> directory_watch::open(runtime& rt, const std::string& path, tartan::color c) { return open_in(rt.state(), path, c); }

}  // namespace tartan
