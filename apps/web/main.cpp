// tartan-web: a static web server.
#include <fcntl.h>
#include <tartan/core/semaphore.h>
#include <tartan/core/spawn.h>
#include <tartan/io/signal_set.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "common/descriptor_limit.h"
#include "common/line_log.h"
#include "common/one_line.h"
#include "common/privileges.h"
#include "common/service_manager.h"
#include "web/descriptors.h"
#include "web/server.h"
#include "web/settings.h"

namespace {

/// Lowers the settings to what the descriptors of this process suffice for, and says so. If they run out all the same,
/// pages in memory are served on, other files are answered with 503, clients that connect wait, and a line on stderr
/// tells of it (shortage).
void share_descriptors(web::settings& with, std::size_t open_before) {
  const std::size_t limit = tartan::apps::raise_descriptor_limit();
  const web::descriptor_share possible = web::share_of_descriptors(with, limit, open_before);
  if (possible.connections < with.max_connections) {
    constexpr const char* text =
        "tartan-web: %zu connections at a time instead of %zu: "
        "this process may open %zu files (LimitNOFILE=, ulimit -n)\n";
    std::fprintf(stderr, text, possible.connections, with.max_connections, limit);
  }
  with.max_connections = possible.connections;
  with.pages.open_files = possible.open_files;
}

/// If they are closed, whatever is opened next gets their numbers, and then messages that were meant for somebody else.
void fill_standard_descriptors() {
  int opened = 0;
  while (opened >= 0 && opened <= STDERR_FILENO) opened = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  if (opened >= 0) ::close(opened);
}

/// Made at the start: when it is asked for, there may be no memory to make it. `asked`: has no permit until then.
tartan::task<> drain(web::server& server, tartan::runtime& rt, tartan::semaphore& asked) {
  tartan::task<bool> drained = server.drain();
  const tartan::result<tartan::semaphore::permit> is_asked = co_await asked.acquire();
  if (!is_asked) co_return;
  const bool is_written = co_await std::move(drained);
  if (!is_written) {
    std::fputs("tartan-web: the disk does not answer: what it was asked to read or write is given up\n", stderr);
    std::_Exit(1);
  }
  rt.stop();
}

/// On its own: a disk that hangs must not keep the next signal waiting.
void begin_reload(web::server& server, const std::function<web::settings()>& read) {
  try {
    tartan::spawn(server.reload(read));
  } catch (const std::bad_alloc&) {
    std::fputs("tartan-web: no memory for a reload: all is as it was; send SIGHUP again\n", stderr);
  }
}

/// The first SIGINT or SIGTERM lets requests in progress end, the second one nothing. runtime::stop_on would be too much: it cancels what waits,
/// responses that are being written among it.
tartan::task<> end_on(tartan::signal_set& signals, web::server& server, tartan::semaphore::permit& not_yet,
                      std::function<web::settings()> read) {
  bool is_ending = false;
  while (const tartan::result<int> number = co_await signals.next()) {
    if (*number == SIGHUP) {
      begin_reload(server, read);
    } else if (*number == SIGUSR1) {
      server.reopen_log();
    } else if (std::exchange(is_ending, true)) {
      std::_Exit(128 + *number);
    } else {
      tartan::apps::notify_manager("STOPPING=1");
      not_yet.release();
    }
  }
}

std::string folders_of(const web::settings& with) {
  const std::string first = tartan::apps::one_line(with.hosts.front().root);
  return with.hosts.size() == 1 ? first : first + " and " + std::to_string(with.hosts.size() - 1) + " more";
}

std::string places_of(const web::server& server) {
  std::string all;
  for (const web::server::place& each : server.places()) {
    all.append(all.empty() ? "" : ", ").append(each.is_secure ? "https://" : "http://").append(each.at.to_string());
  }
  return all;
}

void take_rights(const web::settings& with, const web::server& server) {
  web::do_for(with.at.user, [&] { tartan::apps::become(with.user); });
  try {
    server.check_folders();
  } catch (const std::exception& wrong) {
    throw std::runtime_error{wrong.what() + (" for the user '" + with.user + "'")};
  }
}

bool has_certificates(const web::settings& with) {
  return std::any_of(with.hosts.begin(), with.hosts.end(), [](const web::host_settings& each) { return !each.certificate.empty(); });
}

/// As where somebody forgot the port.
bool has_idle_certificates(const web::settings& with, const web::server& server) {
  const std::vector<web::server::place> places = server.places();
  return has_certificates(with) && std::none_of(places.begin(), places.end(), [](const web::server::place& each) { return each.is_secure; });
}

int serve(web::settings with, std::function<web::settings()> read) {
  with.sockets = tartan::apps::passed_sockets();
  tartan::semaphore ending{1};
  tartan::semaphore::permit not_yet = *ending.try_acquire();
  tartan::options options;
  options.workers = with.workers;
  options.pipe_signal_ignored = true;  // by main
  tartan::runtime rt{options};
  web::server server{rt, with};
  tartan::signal_set signals{rt, {SIGINT, SIGTERM, SIGHUP, SIGUSR1}};
  if (!with.user.empty()) take_rights(with, server);
  // epoll: the library's only poller for real sockets.
  std::printf("tartan-web: %s on %s with %u worker%s (epoll); Ctrl-C ends it\n", folders_of(with).c_str(), places_of(server).c_str(), rt.workers(),
              rt.workers() == 1 ? "" : "s");
  std::fflush(stdout);
  if (has_idle_certificates(with, server)) {
    std::fputs("tartan-web: there is a certificate, and no port for TLS: listen-tls, or a socket that is passed as https\n", stderr);
  }
  tartan::apps::notify_manager("READY=1");
  rt.spawn(server.run());
  rt.spawn(drain(server, rt, ending));
  rt.spawn(end_on(signals, server, not_yet, std::move(read)));
  return rt.run();
}

/// Of a configuration that names no port for TLS; a manager may pass a socket for it.
std::string remark_on_tls(const web::settings& with) {
  if (!with.listen_tls.empty() || !has_certificates(with)) return {};
  if (with.hosts.front().certificate.empty()) return ", without TLS, for the first host has no certificate";
  const bool has_to_be = std::any_of(with.hosts.begin(), with.hosts.end(), [](const web::host_settings& each) { return each.https_only; });
  return has_to_be ? ", but only if a socket for TLS is passed" : ", by TLS if a socket for it is passed";
}

/// Does what a start does, but for what others would see of it.
int check(web::settings with) {
  tartan::apps::raise_descriptor_limit();  // each folder needs one, and a program does not know how many it will serve
  web::do_for(with.at.access_log, [&] {
    if (!with.access_log.empty()) tartan::apps::line_log::check(with.access_log, "access log");
  });
  with.access_log.clear();
  const std::string remark = remark_on_tls(with);
  if (with.listen_tls.empty() && !with.hosts.front().certificate.empty()) with.listen_tls.emplace_back();  // as if one were passed
  tartan::options options;
  options.workers = with.workers;
  tartan::runtime rt{options};
  const web::server server{rt, with, web::server::ports::closed};
  const bool has_user = !with.user.empty();
  const bool may_become = ::geteuid() == 0;
  if (has_user && may_become) take_rights(with, server);
  if (has_user && !may_become) web::do_for(with.at.user, [&] { tartan::apps::check_user(with.user); });
  std::printf("tartan-web: nothing is wrong: %s can be served%s\n", folders_of(with).c_str(), remark.c_str());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  fill_standard_descriptors();
  // A client may go in the middle of a file, and a reader of what is said at any time; serve tells the runtime that this is so.
  std::signal(SIGPIPE, SIG_IGN);
  try {
    web::command_line command = web::read_command_line(argc, argv);
    if (!command.serve) return command.exit_status;
    if (command.only_check) return check(command.what);
    const std::size_t open_before = tartan::apps::open_descriptors();
    share_descriptors(command.what, open_before);
    return serve(command.what, [argc, argv, open_before] {
      web::settings with = web::read_again(argc, argv);
      share_descriptors(with, open_before);
      return with;
    });
  } catch (const std::exception& e) {
    std::fprintf(stderr, "tartan-web: %s\n", tartan::apps::one_line(e.what()).c_str());
    return 2;
  }
}
