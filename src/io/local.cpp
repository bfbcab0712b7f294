#include <tartan/io/local.h>

#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <string>
#include <system_error>
#include <tartan/core/runtime.h>

#include "core/runtime_state.h"
#include "io/adopt.h"
#include "io/listening.h"
#include "io/service.h"

namespace tartan::local {

namespace {

using detail::io_service;
using detail::io_system;
using detail::slot_key;
using detail::system_error;

/// A listener, and its file if that is to be removed when it closes; not one that somebody else has put there since.
class listening_at_path final : public detail::listening {
 public:
  /// Empty: there is nothing to remove.
  explicit listening_at_path(std::string path) : path_{std::move(path)} {}
  ~listening_at_path() override {
    struct stat there {};
    if (!ours_ || ::lstat(path_.c_str(), &there) != 0) return;
    if (there.st_dev == device_ && there.st_ino == inode_) static_cast<void>(::unlink(path_.c_str()));
  }

  void bound() noexcept {
    struct stat there {};
    ours_ = !path_.empty() && ::lstat(path_.c_str(), &there) == 0 && S_ISSOCK(there.st_mode);
    device_ = there.st_dev;
    inode_ = there.st_ino;
  }
  void released() noexcept override { ours_ = false; }

 private:
  std::string path_;
  dev_t device_ = 0;
  ino_t inode_ = 0;
  bool ours_ = false;
};

/// As the system calls take it: without "unix:"; empty for an abstract name.
std::string file_of(const address& at) {
  const std::string text = at.to_string();
  const std::string path = text.substr(std::min(text.size(), std::string_view{"unix:"}.size()));
  return path.starts_with('@') ? std::string{} : path;
}

}  // namespace

result<stream> stream::from_fd(int descriptor, tartan::color c, std::source_location site) {
  const result<slot_key> key = detail::adopt(detail::required_runtime("local::stream::from_fd", site), descriptor, c);
  if (!key) return key.error();
  return stream{*key};
}

result<stream> stream::from_fd(runtime& rt, int descriptor, tartan::color c) {
  const result<slot_key> key = detail::adopt(rt.state(), descriptor, c);
  if (!key) return key.error();
  return stream{*key};
}

result<std::pair<stream, stream>> stream::open_pair(detail::runtime_state& rt, tartan::color first, tartan::color second) {
  const result<io_service*> found = io_service::find(rt);
  if (!found) return found.error();
  io_service& service = **found;
  int ends[2] = {-1, -1};
  if (const int error = service.system().open_pair(AF_UNIX, SOCK_STREAM, ends); error < 0) return system_error(error);
  const result<slot_key> one = service.open(ends[0], first, std::nullopt);
  if (!one) {
    for (const int each : ends) service.system().close(each);
    return one.error();
  }
  stream made{*one};
  const result<slot_key> other = service.open(ends[1], second, std::nullopt);
  if (other) return std::pair{std::move(made), stream{*other}};
  service.system().close(ends[1]);
  return other.error();
}

result<std::pair<stream, stream>> pair(runtime& rt, tartan::color first, tartan::color second) {
  return stream::open_pair(rt.state(), first, second);
}

result<std::pair<stream, stream>> pair(std::source_location site) {
  detail::runtime_state& rt = detail::required_runtime("local::pair", site);
  const tartan::color c = detail::here_now()->running;
  return stream::open_pair(rt, c, c);
}

result<listener> listener::from_fd(int descriptor, tartan::color c, unsigned batch, std::source_location site) {
  const result<detail::slot_key> key =
      detail::adopt_listener(detail::required_runtime("local::listener::from_fd", site), detail::transport::local, descriptor, c, batch);
  if (!key) return key.error();
  return listener{*key};
}

result<listener> listener::from_fd(runtime& rt, int descriptor, tartan::color c, unsigned batch) {
  const result<detail::slot_key> key = detail::adopt_listener(rt.state(), detail::transport::local, descriptor, c, batch);
  if (!key) return key.error();
  return listener{*key};
}

result<listener> try_listen(runtime& rt, const address& at, const listen_options& with) {
  if (!at.is_unix()) return std::make_error_code(std::errc::address_family_not_supported);
  const result<io_service*> found = io_service::find(rt.state());
  if (!found) return found.error();
  io_service& service = **found;
  io_system& system = service.system();
  auto extra = std::make_unique<listening_at_path>(with.unlink_on_close && system.is_kernel() ? file_of(at) : std::string{});
  extra->take_in_turns(with.batch);
  const int descriptor = system.open_socket(AF_UNIX, SOCK_STREAM, 0);
  if (descriptor < 0) return system_error(descriptor);
  int error = system.bind(descriptor, at.data(), at.size());
  if (error >= 0) {
    extra->bound();
    error = system.listen(descriptor, with.backlog > 0 ? with.backlog : SOMAXCONN);
  }
  if (error >= 0) {
    const result<slot_key> opened =
        service.open(descriptor, with.color, std::nullopt, std::move(extra), {.then = detail::at_end::closes});
    if (opened) return listener{*opened};
    system.close(descriptor);
    return opened.error();
  }
  system.close(descriptor);
  return system_error(error);
}

listener listen(runtime& rt, const address& at, const listen_options& with) {
  result<listener> made = try_listen(rt, at, with);
  if (!made) throw std::system_error{made.error(), "cannot listen on " + at.to_string()};
  return std::move(*made);
}

listener listen(runtime& rt, std::string_view path, const listen_options& with) {
  const result<address> at = address::unix_path(path);
  if (!at) throw std::system_error{at.error(), "cannot listen on " + std::string{path}};
  return listen(rt, *at, with);
}

}  // namespace tartan::local
