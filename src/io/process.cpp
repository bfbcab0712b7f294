// posix_spawn shares memory with the child until it has become another program: so a runtime with gigabytes starts one as fast as a
// small one, and an error of the last step is the call's error. It gives a number, for which a descriptor is opened at once: that is
// safe because a child that nobody has reaped keeps its number.
#include <tartan/io/process.h>

#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <memory>
#include <new>
#include <system_error>
#include <tartan/core/blocking.h>
#include <tartan/core/runtime.h>
#include <tartan/io/file_descriptor.h>

#include "core/runtime_state.h"
#include "io/service.h"

namespace tartan {

namespace {

using detail::file_descriptor;

std::error_code system_error(int positive) noexcept { return {positive, std::system_category()}; }

// Not from sys/pidfd.h: that of glibc 2.36 is not for C++.
int open_pidfd(pid_t id) noexcept { return static_cast<int>(::syscall(SYS_pidfd_open, id, 0)); }
int send_to_pidfd(int descriptor, int signal, unsigned flags = 0) noexcept {
  return static_cast<int>(::syscall(SYS_pidfd_send_signal, descriptor, signal, nullptr, flags));
}
/// Signals the group that this child leads. ESRCH if the child was reaped, because its number may be reused by then.
int send_to_group_of(int descriptor, pid_t id, int signal) noexcept {
  constexpr unsigned process_group = 4;  // PIDFD_SIGNAL_PROCESS_GROUP, since Linux 6.9
  const int got = send_to_pidfd(descriptor, signal, process_group);
  if (got >= 0 || errno != EINVAL) return got;
  if (const int alive = send_to_pidfd(descriptor, 0); alive < 0) return alive;
  return ::kill(-id, signal);
}

/// Waits on a blocking thread for a child that was killed.
class reaper final : public detail::blocking_job {
 public:
  explicit reaper(pid_t child) noexcept : child_{child} {
    run = drop = [](detail::blocking_job& job) noexcept {
      const std::unique_ptr<reaper> self{&static_cast<reaper&>(job)};
      reap(self->child_);
    };
    site = std::source_location::current();
  }
  static void reap(pid_t child) noexcept {
    while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
    }
  }

 private:
  pid_t child_;
};

}  // namespace

namespace detail {

/// What is known of a child. Color: the slot's.
class child final : public slot_extra {
 public:
  explicit child(runtime_state& rt) noexcept : rt_{rt} {}
  child(const child&) = delete;
  child& operator=(const child&) = delete;
  ~child() override {
    if (!reaped_) end();
  }

  [[nodiscard]] static child& of(io_slot& slot) noexcept { return static_cast<child&>(*slot.extra); }
  void started(pid_t id, int descriptor, bool leads_group) noexcept {
    id_ = id;
    leads_group_ = leads_group;
    descriptor_ = descriptor;
    reaped_ = false;
  }
  [[nodiscard]] pid_t id() const noexcept { return id_; }

  /// Whether it has ended; gives 0 or an errno.
  [[nodiscard]] int look(bool& ended, process_end& how) noexcept {
    if (!reaped_) {
      siginfo_t about{};
      if (::waitid(P_PIDFD, static_cast<id_t>(descriptor_), &about, WEXITED | WNOHANG) < 0) {
        reaped_ = errno == ECHILD;
        return errno;
      }
      if (about.si_pid == 0) return 0;
      reaped_ = known_ = true;
      (about.si_code == CLD_EXITED ? end_.status : end_.signal) = about.si_status;
    }
    if (!known_) return ECHILD;
    ended = true;
    how = end_;
    return 0;
  }

  [[nodiscard]] int send(int signal) const noexcept {
    if (reaped_) return ESRCH;
    if (leads_group_ && send_to_group_of(descriptor_, id_, signal) >= 0) return 0;
    if (leads_group_ && errno != ESRCH) return errno;  // ESRCH: the child has left the group that it led
    return send_to_pidfd(descriptor_, signal) < 0 ? errno : 0;
  }

 private:
  /// Kills and reaps. Most are gone at once; one with much memory takes a while, which no worker waits for if there is a thread.
  void end() noexcept {
    bool ended = false;
    process_end how;
    // An unreaped child keeps its number, and that of its group, even if it has ended: the rest of the group is
    // reached. The child itself may have left the group.
    if (leads_group_) static_cast<void>(send(SIGKILL));
    if (look(ended, how) != 0 || ended || send_to_pidfd(descriptor_, SIGKILL) != 0 || look(ended, how) != 0 || ended) return;
    auto* const job = new (std::nothrow) reaper{id_};
    if (job != nullptr && !start_blocking(rt_, *job)) return;
    delete job;
    reaper::reap(id_);
  }

  runtime_state& rt_;
  pid_t id_ = 0;
  int descriptor_ = -1;  ///< the slot's, which is open as long as this is there
  bool reaped_ = true;  ///< until it is started
  bool known_ = false;
  bool leads_group_ = false;
  process_end end_;
};

io_wait::step process_end_op::attempt(io_slot& on) noexcept {
  bool ended = false;
  if (const int error = child::of(on).look(ended, end_); error != 0) return fail(error);
  return ended ? step::done : step::would_block;
}

}  // namespace detail

/// The child's side of its standard streams, and posix_spawn's lists. Calls give 0 or an errno.
class process_setup {
 public:
  process_setup() {
    if (::posix_spawn_file_actions_init(&actions_) != 0) throw std::bad_alloc{};
    if (::posix_spawnattr_init(&attributes_) != 0) {
      ::posix_spawn_file_actions_destroy(&actions_);
      throw std::bad_alloc{};
    }
  }
  process_setup(const process_setup&) = delete;
  process_setup& operator=(const process_setup&) = delete;
  ~process_setup() {
    ::posix_spawn_file_actions_destroy(&actions_);
    ::posix_spawnattr_destroy(&attributes_);
  }

  /// One standard stream; its own end, if it is a pipe, lies in `ours`.
  [[nodiscard]] int stream(int number, const child_stream& what, file_descriptor& ours) {
    if (what.how_ == child_stream::access::none && what.what_ == child_stream::output) {
      // The actions run in order, so the output is in place by then.
      return number == 2 ? ::posix_spawn_file_actions_adddup2(&actions_, 1, number) : EINVAL;
    }
    file_descriptor& theirs = theirs_[number];
    if (const int error = open_theirs(number, what, ours, theirs); error != 0) return error;
    return theirs.get() < 0 ? 0 : ::posix_spawn_file_actions_adddup2(&actions_, theirs.get(), number);
  }

  /// `own_group`: it leads one.
  [[nodiscard]] int rest(const std::string& directory, bool own_group) {
    if (!directory.empty()) {
      directory_ = above_standard(::open(directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
      if (directory_.get() < 0) return errno == ENOENT ? ENOTDIR : errno;
      if (const int e = ::posix_spawn_file_actions_addfchdir_np(&actions_, directory_.get()); e != 0) return e;
    }
    if (const int e = ::posix_spawn_file_actions_addclosefrom_np(&actions_, 3); e != 0) return e;
    sigset_t none;
    sigset_t reset;
    sigemptyset(&none);
    sigemptyset(&reset);
    sigaddset(&reset, SIGPIPE);
    if (const int e = ::posix_spawnattr_setsigmask(&attributes_, &none); e != 0) return e;
    if (const int e = ::posix_spawnattr_setsigdefault(&attributes_, &reset); e != 0) return e;
    if (const int e = ::posix_spawnattr_setpgroup(&attributes_, 0); e != 0) return e;
    const int flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | (own_group ? POSIX_SPAWN_SETPGROUP : 0);
    return ::posix_spawnattr_setflags(&attributes_, static_cast<short>(flags));
  }

  /// To be asked when all streams are prepared.
  [[nodiscard]] bool wants_own(child_group asked) const noexcept {
    if (asked != child_group::automatic) return asked == child_group::own;
    const int input = theirs_[0].get() < 0 ? STDIN_FILENO : theirs_[0].get();
    return ::isatty(input) == 0;
  }

  [[nodiscard]] int start(const command& what, pid_t& id) {
    const auto pointers = [](const std::vector<std::string>& all) {
      std::vector<char*> list;
      for (const std::string& each : all) list.push_back(const_cast<char*>(each.c_str()));
      list.push_back(nullptr);
      return list;
    };
    const std::vector<char*> arguments = pointers(what.arguments);
    const std::vector<std::string> inherited;
    const std::vector<char*> environment = pointers(what.environment ? *what.environment : inherited);
    return ::posix_spawnp(&id, arguments[0], &actions_, &attributes_, arguments.data(),
                          what.environment ? environment.data() : environ);
  }

 private:
  /// Opens the child's side of a stream; none if the child keeps what this program has under that number.
  [[nodiscard]] static int open_theirs(int number, const child_stream& what, file_descriptor& ours,
                                       file_descriptor& theirs) {
    if (what.how_ == child_stream::access::lent) return lend(what.descriptor_, theirs);
    if (what.how_ != child_stream::access::none) return open_file(number, what, theirs);
    switch (what.what_) {
      case child_stream::null:
        theirs = above_standard(::open("/dev/null", (number == 0 ? O_RDONLY : O_WRONLY) | O_CLOEXEC));
        return theirs.get() < 0 ? errno : 0;
      case child_stream::pipe:
        return open_pipe(number, ours, theirs);
      default:
        theirs = blocking_twin(number);
        return 0;
    }
  }

  [[nodiscard]] static int open_pipe(int number, file_descriptor& ours, file_descriptor& theirs) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) < 0) return errno;
    ours = above_standard(ends[number == 0 ? 1 : 0]);
    theirs = above_standard(ends[number == 0 ? 0 : 1]);
    if (ours.get() < 0 || theirs.get() < 0) return errno;
    // Only our side is non-blocking: the child expects to block.
    return ::fcntl(ours.get(), F_SETFL, O_NONBLOCK) < 0 ? errno : 0;
  }

  /// Opens without waiting for the other side of a FIFO; the child gets it blocking.
  [[nodiscard]] static int open_file(int number, const child_stream& what, file_descriptor& theirs) {
    if ((what.how_ == child_stream::access::read) != (number == 0)) return EINVAL;
    int flags = O_RDONLY;
    if (what.how_ == child_stream::access::truncate) flags = O_WRONLY | O_CREAT | O_TRUNC;
    if (what.how_ == child_stream::access::append) flags = O_WRONLY | O_CREAT | O_APPEND;
    theirs = above_standard(::open(what.path_.c_str(), flags | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0666));
    if (theirs.get() < 0) return errno;
    return ::fcntl(theirs.get(), F_SETFL, flags & O_APPEND) < 0 ? errno : 0;
  }

  [[nodiscard]] static int lend(int descriptor, file_descriptor& theirs) {
    theirs = blocking_twin(descriptor);
    if (theirs.get() < 0) theirs = file_descriptor{::fcntl(descriptor, F_DUPFD_CLOEXEC, 3)};
    return theirs.get() < 0 ? errno : 0;
  }

  [[nodiscard]] static bool is_pipe_or_terminal(int descriptor) noexcept {
    struct stat about {};
    return ::fstat(descriptor, &about) == 0 && (S_ISFIFO(about.st_mode) || ::isatty(descriptor) == 1);
  }

  /// Reopens a non-blocking pipe, FIFO or terminal, so that the child gets an open file of its own that blocks. None if
  /// the descriptor blocks anyway or the system refuses (sockets, terminals of another user). Never a regular file: a
  /// new open file would start at offset 0.
  [[nodiscard]] static file_descriptor blocking_twin(int descriptor) {
    const int flags = ::fcntl(descriptor, F_GETFL);
    if (flags < 0 || (flags & O_NONBLOCK) == 0 || !is_pipe_or_terminal(descriptor)) return {};
    const std::string path = "/proc/self/fd/" + std::to_string(descriptor);
    const int kept = flags & (O_ACCMODE | O_APPEND);
    // Non-blocking at first: a FIFO without its other side would wait.
    file_descriptor twin = above_standard(::open(path.c_str(), kept | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
    if (twin.get() < 0 || ::fcntl(twin.get(), F_SETFL, kept) < 0) return {};
    return twin;
  }

  /// A program that was started with closed standard streams gets their numbers for others: they would be overwritten.
  static file_descriptor above_standard(int descriptor) noexcept {
    if (descriptor < 0 || descriptor > 2) return file_descriptor{descriptor};
    const file_descriptor low{descriptor};
    return file_descriptor{::fcntl(descriptor, F_DUPFD_CLOEXEC, 3)};
  }

  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
  file_descriptor theirs_[3];
  file_descriptor directory_;
};

namespace {

/// An end of ours becomes an object; open if there is one. Gives an error and keeps it otherwise.
std::error_code open_end(detail::io_service& service, file_descriptor& ours, color c, detail::slot_key& into) noexcept {
  if (ours.get() < 0) return {};
  const result<detail::slot_key> opened = service.open(ours.get(), c, std::nullopt);
  if (!opened) return opened.error();
  static_cast<void>(ours.give());
  into = *opened;
  return {};
}

/// Opens a child that was just started; on error it is killed and reaped. One that may not be killed, for it has become another user's,
/// goes on: nobody waits for it.
result<detail::slot_key> open_child(detail::io_service& service, std::unique_ptr<detail::child> state, pid_t id,
                                    bool own_group, color c) {
  file_descriptor descriptor{open_pidfd(id)};
  if (descriptor.get() < 0) {
    const int error = errno;
    if (::kill(own_group ? -id : id, SIGKILL) == 0) reaper::reap(id);
    return system_error(error);
  }
  state->started(id, descriptor.get(), own_group);
  const result<detail::slot_key> opened = service.open(descriptor.get(), c, std::nullopt, std::move(state));
  if (opened) static_cast<void>(descriptor.give());
  return opened;
}

}  // namespace

result<process> process::start(detail::runtime_state& rt, const command& what, tartan::color c) {
  if (what.arguments.empty()) return std::make_error_code(std::errc::invalid_argument);
  const result<detail::io_service*> found = detail::io_service::find(rt);
  if (!found) return found.error();
  detail::io_service& service = **found;
  if (!service.system().is_kernel()) return std::make_error_code(std::errc::not_supported);
  process_setup ready;
  file_descriptor ours[3];
  const child_stream* const streams[3] = {&what.input, &what.output, &what.errors};
  for (int n = 0; n < 3; ++n) {
    if (const int error = ready.stream(n, *streams[n], ours[n]); error != 0) return system_error(error);
  }
  const bool own_group = ready.wants_own(what.group);
  if (const int error = ready.rest(what.directory, own_group); error != 0) return system_error(error);
  auto state = std::make_unique<detail::child>(rt);  // nothing may fail between a start and what ends it
  pid_t id = 0;
  if (const int error = ready.start(what, id); error != 0) return system_error(error);
  const result<detail::slot_key> opened = open_child(service, std::move(state), id, own_group, c);
  if (!opened) return opened.error();
  process made{*opened};
  detail::slot_key keys[3];
  std::error_code failed;
  for (int n = 0; n < 3 && !failed; ++n) failed = open_end(service, ours[n], c, keys[n]);
  // Also if one has failed: what is open closes with its object.
  made.input = pipe::write_end{keys[0]};
  made.output = pipe::read_end{keys[1]};
  made.errors = pipe::read_end{keys[2]};
  if (failed) return failed;
  return made;
}

result<process> process::spawn(const command& what, std::source_location site) {
  detail::runtime_state& rt = detail::required_runtime("process::spawn", site);
  return start(rt, what, detail::here_now()->running);
}

result<process> process::spawn(runtime& rt, const command& what, tartan::color c) { return start(rt.state(), what, c); }

result<> process::kill(int signal, std::source_location site) noexcept {
  if (!is_open()) return errc::closed;
  detail::require_color(*key().slot, site);
  if (const int error = detail::child::of(*key().slot).send(signal); error != 0) return system_error(error);
  return {};
}

int process::id() const noexcept { return is_open() ? detail::child::of(*key().slot).id() : 0; }

}  // namespace tartan
