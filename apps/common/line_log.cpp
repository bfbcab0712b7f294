#include "common/line_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <tartan/core/await_blocking.h>
#include <tartan/core/in.h>
#include <tartan/core/spawn.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <new>
#include <stdexcept>
#include <utility>

namespace tartan::apps {

using namespace std::chrono_literals;

namespace {

constexpr std::size_t enough = 32 * 1024;  // bytes of lines that are worth a write
constexpr std::size_t most_waiting = std::size_t{4} << 20;
constexpr auto at_latest = 1s;

file open_without_waiting(const std::string& path, int way) noexcept {
  return file{::open(path.c_str(), way | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0644)};
}

bool is_regular(const file& log) noexcept {
  struct stat now{};
  return log.is_open() && ::fstat(log.descriptor(), &now) == 0 && S_ISREG(now.st_mode);
}

/// Not open: errno says why; ENXIO is a pipe that nobody reads.
file open_log(const std::string& path) noexcept {
  file log = open_without_waiting(path, O_WRONLY);
  if (is_regular(log)) {  // a pipe whose writer goes, and be it for a moment, has ended for who reads it
    file readable = open_without_waiting(path, O_RDWR);  // to see how it ends
    if (is_regular(readable)) log = std::move(readable);
  }
  if (log.is_open()) static_cast<void>(::fcntl(log.descriptor(), F_SETFL, O_APPEND));  // what is slow is waited for
  return log;
}

std::string reason_of(int error, const std::string& path) {
  struct stat now{};
  const bool is_pipe = error == ENXIO && ::stat(path.c_str(), &now) == 0 && S_ISFIFO(now.st_mode);
  return is_pipe ? "nobody reads it" : std::strerror(error);
}

std::runtime_error unusable(const std::string& name, const std::string& path, int error) {
  return std::runtime_error{"cannot write the " + name + " '" + path + "': " + reason_of(error, path)};
}

/// A full disk, or the end of a machine, may have cut its last line off.
bool ends_within_a_line(const file& log) noexcept {
  const off_t size = is_regular(log) ? ::lseek(log.descriptor(), 0, SEEK_END) : 0;
  char last = '\n';
  return size > 0 && ::pread(log.descriptor(), &last, 1, size - 1) == 1 && last != '\n';
}

}  // namespace

void line_log::check(const std::string& path, const std::string& name) {
  struct stat now{};
  std::filesystem::path written{path};
  if (::stat(path.c_str(), &now) != 0 && errno == ENOENT) {
    std::error_code no_link;  // a link to itself is no ENOENT
    for (auto to = std::filesystem::read_symlink(written, no_link); !no_link;
         to = std::filesystem::read_symlink(written, no_link)) {
      written = written.parent_path() / to;
    }
    written = written.parent_path();
    if (written.empty()) written = ".";
  }
  int error = ::faccessat(AT_FDCWD, written.c_str(), W_OK, AT_EACCESS) != 0 ? errno : 0;
  if (S_ISDIR(now.st_mode)) error = EISDIR;
  if (S_ISSOCK(now.st_mode)) error = ENXIO;
  if (error != 0) throw unusable(name, path, error);
}

line_log::line_log(tartan::runtime& rt, const std::string& path, line_log_names names)
    : rt_{rt}, names_{std::move(names)}, color_{rt, names_.log}, timer_{rt, color_.value()}, file_{open_log(path)} {
  if (!file_.is_open()) throw unusable(names_.log, path, errno);
  is_torn_ = ends_within_a_line(file_);
}

void line_log::add(std::string lines) {
  color_.post([this, lines = std::move(lines)] { take(lines); });
}

void line_log::reopen(std::string path) {
  color_.post([this, path = std::move(path)]() mutable {
    reopens_ = std::move(path);
    begin();
  });
}

tartan::task<> line_log::flush() {
  co_await tartan::in(color_.value(), [this] { return write(); });
  co_await tartan::in(color_.value(), [this] { complain({}); });
}

void line_log::take(const std::string& lines) noexcept {
  if (waiting_.size() + lines.size() > most_waiting) return lose(lines, "the disk is too slow");
  try {
    waiting_.append(lines);
  } catch (const std::bad_alloc&) {
    return lose(lines, "no memory");
  }
  if (waiting_.size() >= enough) return begin();
  try {
    if (has_begun_ || is_timed_) return;
    timer_.set(at_latest, [this] {
      is_timed_ = false;
      begin();
    });
    is_timed_ = true;
  } catch (const std::bad_alloc&) {
    begin();
  }
}

/// Where there is no memory for it now, the next line sees to it that it is tried again.
void line_log::begin() noexcept {
  if (has_begun_) return;
  try {
    tartan::spawn_in(color_.value(), &line_log::write, this);
    has_begun_ = true;
  } catch (const std::exception&) {
  }
}

/// Writes what waits, off the workers. Color: its own.
tartan::task<> line_log::write() {
  const tartan::result<tartan::semaphore::permit> turn = co_await turn_.acquire();
  timer_.cancel();
  is_timed_ = has_begun_ = false;
  if (!turn) co_return;  // the runtime ends, and nobody waits for what is lost
  const std::string lines = std::exchange(waiting_, {});
  const std::string anew = std::exchange(reopens_, {});
  if (lines.empty() && anew.empty()) co_return;
  written done;
  try {
    done = co_await tartan::blocking([&] { return write_out(lines, anew); });
  } catch (const std::exception&) {
    done.error = EAGAIN;  // no thread for it
    if (reopens_.empty()) reopens_ = anew;
  }
  if (done.error != 0) lose(std::string_view{lines}.substr(done.bytes), std::strerror(done.error));
  complain(next_complaint_);
}

/// Threads: that of a blocking job.
line_log::written line_log::write_out(const std::string& lines, const std::string& anew) {
  const written done = write_lines(lines);  // they were added before
  if (anew.empty()) return done;
  file opened = open_log(anew);
  if (opened.is_open()) {
    file_ = std::move(opened);
    is_torn_ = ends_within_a_line(file_);
  } else {
    std::fprintf(stderr, "%s: cannot open the %s '%s' anew (%s)\n", names_.program.c_str(), names_.log.c_str(),
                 anew.c_str(), reason_of(errno, anew).c_str());
  }
  return done;
}

line_log::written line_log::write_lines(const std::string& lines) noexcept {
  if (lines.empty()) return {};
  if (is_torn_) {
    const written end = write_all("\n");
    if (end.error != 0) return {0, end.error};
    is_torn_ = false;
  }
  const written done = write_all(lines);
  is_torn_ = done.bytes != 0 && lines[done.bytes - 1] != '\n';
  return done;
}

/// As far as the system takes it.
line_log::written line_log::write_all(std::string_view text) noexcept {
  written done;
  while (done.bytes < text.size()) {
    const ssize_t went = ::write(file_.descriptor(), text.data() + done.bytes, text.size() - done.bytes);
    if (went < 0 && errno == EINTR) continue;
    if (went <= 0) {
      done.error = went < 0 ? errno : EIO;
      break;
    }
    done.bytes += static_cast<std::size_t>(went);
  }
  return done;
}

void line_log::lose(std::string_view lines, const char* why) noexcept {
  lost_ += static_cast<std::size_t>(std::count(lines.begin(), lines.end(), '\n'));
  why_ = why;
  complain(next_complaint_);
}

void line_log::complain(time not_before) noexcept {
  const time now = rt_.now();
  if (now < not_before || lost_ == 0) return;
  std::fprintf(stderr, "%s: lines of the %s that are lost: %zu (%s)\n", names_.program.c_str(), names_.log.c_str(),
               lost_, why_);
  lost_ = 0;
  next_complaint_ = now + 1s;
}

}  // namespace tartan::apps
