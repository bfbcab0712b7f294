#include "web/server.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <tartan/core/await_blocking.h>
#include <tartan/core/event_batch.h>
#include <tartan/core/on.h>
#include <tartan/core/post.h>
#include <tartan/core/when_all.h>
#include <tartan/time/sleep.h>
#include <tartan/time/timer.h>
#include <tartan/time/with_timeout.h>
#include <tartan/tls/server.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <new>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "web/address_family.h"
#include "common/line_log.h"
#include "common/one_line.h"
#include "common/privileges.h"

namespace web {

namespace {

constexpr int most_unsent = 128 * 1024;  // bytes that the kernel keeps for a connection beside those that are on their way
constexpr std::size_t asked_at_once = 32;       // connections, for one that another one may have the place of
constexpr std::chrono::milliseconds patience{100};     // of who waits for a place, before one is asked to leave
constexpr std::chrono::milliseconds for_the_end{300};    // of one that has to go, and perhaps says so
constexpr std::chrono::milliseconds for_an_answer{1'000};  // behind which one closes
constexpr std::chrono::milliseconds least_stay{1'000};   // else clients that are all busy would take turns for one request each
constexpr std::chrono::milliseconds crowded_for{1'000};  // after somebody had to go
constexpr std::chrono::milliseconds for_memory{100};  // until that which lacked it is tried again
constexpr std::chrono::milliseconds for_the_disk{5'000};  // to end what it has begun, when the server ends; and for the log to, in a reload

bool needs_certificates(const settings& with) noexcept {
  return with.sockets.empty() ? !with.listen_tls.empty()
                              : std::any_of(with.sockets.begin(), with.sockets.end(), [](const auto& each) { return each.name == "https"; });
}

/// Takes what needs a new start from what there is; gives the names of what would have changed.
std::string keep_fixed(settings& with, const settings& now) {
  std::string kept;
  const auto keep = [&kept](const char* name, auto& wanted, const auto& has) {
    if (wanted != has) kept.append(kept.empty() ? "" : ", ").append(name);
    wanted = has;
  };
  if (now.sockets.empty()) keep("listen", with.listen, now.listen);
  if (now.sockets.empty()) keep("listen-tls", with.listen_tls, now.listen_tls);
  keep("workers", with.workers, now.workers);
  keep("user", with.user, now.user);
  return kept;
}

const tartan::apps::line_log_names log_names{"tartan-web", "access log"};

/// Null if none is wanted. Blocks.
std::unique_ptr<tartan::apps::line_log> log_of(tartan::runtime& rt, const settings& with) {
  if (with.access_log.empty()) return nullptr;
  return do_for(with.at.access_log, [&] { return std::make_unique<tartan::apps::line_log>(rt, with.access_log, log_names); });
}

/// Errors: std::invalid_argument for a host that wants its clients to come with TLS where nobody can.
void check_https_only(const settings& with, const char* needed = "needs a port for TLS: listen-tls, or a socket that is passed as https") {
  if (needs_certificates(with)) return;
  for (const host_settings& each : with.hosts) {
    if (each.https_only) throw std::invalid_argument{each.https_only_at.text + needed};
  }
}

/// At a reload: as the next start will have it. One who is what he was may be known to somebody who does not answer just now.
void check_user(const settings& with, const settings& now) {
  if (with.user.empty() || with.user == now.user) return;
  do_for(with.at.user, [&] { tartan::apps::check_user(with.user); });
}

/// Errors: as of tls::server, with the place of the certificate that is wrong.
std::unique_ptr<tartan::tls::server> tls_by(const tartan::tls::server_settings& all, const std::vector<setting_place>& said_at) {
  try {
    return std::make_unique<tartan::tls::server>(all);
  } catch (const std::runtime_error&) {
    for (std::size_t n = 0; n < all.identities.size(); ++n) {
      tartan::tls::server_settings alone = all;
      alone.identities = {all.identities[n]};
      do_for(said_at[n], [&] { const tartan::tls::server unused{alone}; });
    }
    throw;
  }
}

/// Null if no port speaks TLS. Blocks.
std::unique_ptr<tartan::tls::server> tls_of(const settings& with) {
  check_https_only(with);
  if (!needs_certificates(with)) return nullptr;
  if (with.hosts.front().certificate.empty()) throw std::invalid_argument{with.hosts.front().root_at.text + "TLS needs a certificate for the first host"};
  tartan::tls::server_settings all;
  std::vector<setting_place> said_at;
  for (const host_settings& each : with.hosts) {
    if (each.certificate.empty()) continue;
    all.identities.push_back({each.certificate, each.key, each.names});
    said_at.push_back(each.certificate_at);
  }
  all.protocols = {"http/1.1"};
  all.handshake_limit = std::max(with.times.header, std::chrono::milliseconds{1});
  return tls_by(all, said_at);
}

/// Gives the permit back, which has to be gone before its semaphore, when that has ended.
tartan::task<> run_with(tartan::semaphore::permit given, std::shared_ptr<tartan::semaphore> /*kept*/, tartan::task<> what) {
  const tartan::semaphore::permit until_then = std::move(given);
  co_await std::move(what);
}

/// Whether it has ended by then; if not, it goes on, and nobody waits for it.
///
/// Errors: std::bad_alloc; then it has not begun.
tartan::task<bool> ends_by(tartan::task<> what, std::chrono::steady_clock::time_point given_up) {
  const auto end = std::make_shared<tartan::semaphore>(1);
  tartan::semaphore::permit until_then = *end->try_acquire();
  auto ended = tartan::with_deadline(given_up, end->acquire());  // first: nothing may fail once it has begun
  tartan::spawn(run_with(std::move(until_then), end, std::move(what)));
  const auto permit = co_await std::move(ended);
  co_return permit.has_value();
}

tartan::task<> one_by_one(tartan::task<> first, tartan::task<> second) {
  co_await std::move(first);
  co_await std::move(second);
}

/// For all that it accepts; a Unix socket has no such options.
void set_options(tartan::tcp::listener& door) {
  static_cast<void>(door.set_option(IPPROTO_TCP, TCP_NODELAY, 1));
  // Else the kernel takes 4 MB of a large file for whoever does not read it.
  static_cast<void>(door.set_option(IPPROTO_TCP, TCP_NOTSENT_LOWAT, most_unsent));
}

}  // namespace

server::server(tartan::runtime& rt, const settings& with, ports which)
    : shortage_{std::make_shared<shortage>(rt)}, log_{log_of(rt, with)},
      site_{std::make_shared<site>(rt, with, log_.get(), sweeps_, shortage_)}, tls_{tls_of(with)}, connections_{rt} {
  somebody_left_ = rt.now() - crowded_for;
  no_sweeps_.reserve(library::most_sweeps);
  if (which == ports::open) open_doors();
}

void server::open_doors() {
  tartan::runtime& rt = site_->runtime;
  for (const tartan::apps::passed_socket& each : site_->settings.sockets) {
    tartan::result<tartan::tcp::listener> taken = tartan::tcp::listener::from_fd(rt, each.descriptor, tartan::color{});
    if (!taken) throw std::system_error{taken.error(), "cannot listen at the socket that was passed as descriptor " + std::to_string(each.descriptor)};
    doors_.push_back({std::move(*taken), each.name == "https"});
  }
  if (doors_.empty()) {
    const auto open = [&](const std::vector<std::string>& all, bool is_secure) {
      for (const std::string& each : all) doors_.push_back({tartan::tcp::listen(rt, each, {.ipv6_only = has_ipv4_beside(each, all)}), is_secure});
    };
    const settings& with = site_->settings;
    do_for(with.at.listen, [&] { open(with.listen, false); });
    do_for(with.at.listen_tls, [&] { open(with.listen_tls, true); });
  }
  for (door& each : doors_) {
    set_options(each.at);
    each.at.on_shortage([told = shortage_](std::error_code why) { told->tell("accept connections", why.value()); });
  }
}

void server::check_folders() const { site_->check_folders(); }

std::vector<server::place> server::places() const {
  std::vector<place> all;
  for (const door& each : doors_) all.push_back({*each.at.local_address(), each.is_secure});
  return all;
}

tartan::task<> server::run() {
  const tartan::result<tartan::semaphore::permit> until_then = co_await accepting_.acquire();
  std::vector<tartan::task<>> all;
  for (door& each : doors_) all.push_back(accept_from(each));
  static_cast<void>(co_await tartan::when_all(std::move(all)));
}

tartan::task<> server::accept_from(door& at) {
  for (;;) {
    tartan::result<tartan::tcp::stream> peer = co_await at.at.accept();
    if (!peer && draining_) co_return;
    if (!peer) throw std::system_error{peer.error(), "cannot accept connections"};
    // Only now: a door at which nobody knocks would keep the room from the others.
    tartan::result<tartan::semaphore::permit> room = room_.try_acquire();
    try {
      if (!room && !draining_) room = co_await take_room();
    } catch (const std::bad_alloc&) {  // who has come is given up
      complain(std::current_exception());
      continue;
    }
    if (!room && !draining_) co_return;
    try {
      admit(std::move(*peer), at.is_secure);
    } catch (const std::bad_alloc&) {  // there will be memory again when others have gone
      complain(std::current_exception());
    }
    if (draining_) co_return;
    if (open_.size() >= site_->settings.max_connections) full_ = std::move(*room);
  }
}

/// There is none. Somebody has to go; at once, and several, if that was so a moment ago: then it comes of clients that keep theirs.
tartan::task<tartan::result<tartan::semaphore::permit>> server::take_room() {
  const bool is_crowded = site_->runtime.now() - somebody_left_ < crowded_for;
  tartan::result<tartan::semaphore::permit> room = std::make_error_code(std::errc::timed_out);
  if (!is_crowded) room = co_await tartan::with_timeout(patience, room_.acquire());
  std::size_t most = is_crowded ? 8 : 1;
  while (!room && !draining_) {
    const std::chrono::milliseconds so_long = co_await make_room(most);
    if (so_long != patience) most = std::min(2 * most, asked_at_once);  // else there was nobody to ask
    room = co_await tartan::with_timeout(so_long, room_.acquire());
    if (!room && room.error() != std::errc::timed_out) break;
  }
  co_return room;
}

/// So many have to go; but if a reload has left more open than there may be, all that are too many: one batch behind the other, so that no event takes
/// long. Gives how long to wait for their places.
tartan::task<std::chrono::milliseconds> server::make_room(std::size_t most) {
  const std::size_t places = site_->settings.max_connections;
  const auto alone = sheds_.try_acquire();  // at another door the same may be going on
  const bool are_too_many = alone && open_.size() > places;
  if (are_too_many) most = open_.size() - places + 1;  // who waits needs a place, too
  std::chrono::milliseconds so_long = patience;
  for (std::size_t unasked = are_too_many ? open_.size() : asked_at_once; most != 0 && unasked != 0;) {
    const std::size_t batch = std::min(unasked, asked_at_once);
    unasked -= batch;
    const departure now = co_await ask_to_leave(batch, most);
    so_long = std::max(so_long, now.so_long);
    most -= now.told;
  }
  co_return so_long;
}

/// Those that others may take the place of: of the next in line, the ones whose clients have taken longest, or else the oldest.
tartan::task<server::departure> server::ask_to_leave(std::size_t among, std::size_t most) {
  try {
    std::vector<tartan::task<candidate>> asked;
    for (std::size_t n = std::min(among, open_.size()); n > 0; --n) {
      auto next = open_.upper_bound(asked_last_);
      if (next == open_.end()) next = open_.begin();
      asked_last_ = next->first;
      asked.push_back(ask(next->first, *next->second));
    }
    std::vector<candidate> all = co_await tartan::when_all(std::move(asked));
    const auto now = site_->runtime.now();
    std::erase_if(all, [now](const candidate& each) { return !each.how.at_once && (each.how.told || each.how.open_since > now - least_stay); });
    std::sort(all.begin(), all.end());
    if (all.empty()) co_return departure{patience};
    somebody_left_ = now;
    const bool at_once = all.front().how.at_once;
    departure made{at_once ? for_the_end : for_an_answer};
    for (const candidate& each : std::span{all}.first(std::min(most, all.size()))) {
      const auto found = each.how.at_once == at_once ? open_.find(each.number) : open_.end();
      if (found == open_.end()) continue;
      tartan::post(found->second->color(), [client = found->second] { client->leave(); });
      ++made.told;
    }
    co_return made;
  } catch (const std::bad_alloc&) {  // somebody will go
    co_return departure{patience};
  }
}

/// As with drain, it never meets a connection that is gone.
tartan::task<server::candidate> server::ask(std::uint64_t number, const connection& client) {
  co_await tartan::on(client.color());
  const connection::leave_offer how = client.offer();
  co_await tartan::on(tartan::color{});
  co_return candidate{number, how};
}

/// After fewer are open, or others may be.
void server::limit_connections() {
  if (open_.size() < site_->settings.max_connections) return full_.release();
  if (tartan::result<tartan::semaphore::permit> room = room_.try_acquire()) full_ = std::move(*room);
}

void server::admit(tartan::tcp::stream peer, bool is_secure) {
  auto client = std::make_unique<connection>(site_, std::move(peer), is_secure ? tls_.get() : nullptr);
  connection* const known = client.get();
  const tartan::color own = client->color();
  const std::uint64_t number = ++admitted_;
  if (draining_) client->begin_in_drain();  // it was accepted before
  open_.emplace(number, known);
  try {
    connections_.spawn_in(own, &server::serve, this, std::move(client), number);
  } catch (...) {
    open_.erase(number);
    throw;
  }
}

/// Color: the connection's.
tartan::task<> server::serve(std::unique_ptr<connection> client, std::uint64_t number) {
  const tartan::color own = client->color();
  std::exception_ptr wrong;
  try {
    co_await client->run();
  } catch (const std::exception&) {  // no memory, no thread for the disk, a file that changed: this connection's misfortune
    wrong = std::current_exception();
  }
  client->close();  // before another gets its place, and a descriptor
  // What drain has posted to this color runs before the way back from there: it never meets a connection that is gone. Neither way
  // needs memory.
  co_await tartan::on(tartan::color{});
  open_.erase(number);
  limit_connections();
  if (wrong) complain(wrong);
  co_await tartan::on(own);
}

/// Once a second: what is missing is missing for all.
void server::complain(const std::exception_ptr& why) noexcept {
  ++untold_;
  const auto now = site_->runtime.now();
  if (now < next_complaint_) return;
  try {
    std::rethrow_exception(why);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "tartan-web: connections that had to be given up: %zu (%s)\n", untold_, tartan::apps::one_line(e.what()).c_str());
  }
  untold_ = 0;
  next_complaint_ = now + std::chrono::seconds{1};
}

/// What takes the place of what there is.
struct server::renewal {
  std::string kept;                 ///< names of what would have to change and cannot
  std::unique_ptr<tartan::apps::line_log> log;  ///< null: it is the same one, or none is wanted
  std::shared_ptr<site> next;       ///< null: it would be the same
  std::unique_ptr<tartan::tls::server> tls;  ///< null: it stays as it is
};

/// Threads: that of a blocking job. Meanwhile nobody changes what is read here: there is one reload at a time.
server::renewal server::prepare(settings with) const {
  const settings& now = site_->settings;
  renewal made;
  with.sockets = now.sockets;
  check_user(with, now);
  const bool wants_other_doors = with.listen_tls != now.listen_tls;
  if (wants_other_doors) static_cast<void>(tls_of(with));  // as the next start will have it
  made.kept = keep_fixed(with, now);
  if (wants_other_doors) check_https_only(with, "needs listen-tls, which needs a new start");
  if (tls_ != nullptr && needs_certificates(with) && with.hosts.front().certificate.empty()) {
    made.kept.append(made.kept.empty() ? "" : ", ").append("certificate");  // the doors for TLS stay
  } else {
    made.tls = tls_of(with);
  }
  if (site_->is_as(with)) return made;
  if (with.access_log != now.access_log) made.log = log_of(site_->runtime, with);  // only to see that it can be, if there is one
  tartan::apps::line_log* const log = log_ != nullptr ? log_.get() : made.log.get();
  made.next = std::make_shared<site>(site_->runtime, with, with.access_log.empty() ? nullptr : log, sweeps_, shortage_);
  return made;
}

/// All or nothing: what needs memory comes first. Errors: std::bad_alloc; then all is as it was.
void server::take(renewal& made) {
  tartan::event_batch told{site_->runtime};
  if (made.next != nullptr) {
    for (const auto& [number, open] : open_) {
      told.add(open->color(), [client = open, with = made.next] { client->renew(with); });
    }
    // The server keeps its log, for connections have that one.
    if (log_ != nullptr && made.log != nullptr) log_->reopen(made.next->settings.access_log);
  }
  // From here on nothing fails.
  if (made.next != nullptr) {
    site_ = std::move(made.next);
    if (log_ == nullptr) log_ = std::move(made.log);
    limit_connections();
    site_->runtime.post(std::move(told));
  }
  if (tls_ != nullptr && made.tls != nullptr) {
    tls_->reload(std::move(*made.tls));  // its tickets stay good, if the first certificate does
  } else if (made.tls != nullptr) {
    tls_ = std::move(made.tls);
  }
  if (!made.kept.empty()) std::fprintf(stderr, "tartan-web: not changed before the next start: %s\n", made.kept.c_str());
}

void server::tell_of_failure(const std::exception& wrong, bool is_log_anew) const noexcept {
  const char* const state = is_log_anew ? "the access log is opened anew, all else is as it was" : "all is as it was";
  try {
    std::fprintf(stderr, "tartan-web: %s: %s\n", state, tartan::apps::one_line(wrong.what()).c_str());
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "tartan-web: %s: there is no memory to say why\n", state);
  }
}

/// `until_then`: another log, or none. Where there is no memory for it, it is tried again: nobody waits for this
/// without a limit.
tartan::task<> server::flush_log(std::shared_ptr<tartan::apps::line_log> until_then) {
  for (bool is_flushed = false; !is_flushed;) {
    try {
      co_await log_->flush();
      is_flushed = true;
    } catch (const std::bad_alloc&) {
    }
    if (is_flushed) break;
    const tartan::result<> passed = co_await tartan::sleep(for_memory);
    if (!passed) co_return;
  }
  until_then.reset();
}

tartan::task<> server::reload(std::function<settings()> read) {
  if (std::exchange(reload_waits_, true)) co_return;  // that one reads what this one would
  const tartan::result<tartan::semaphore::permit> turn = co_await reloads_.acquire();
  reload_waits_ = false;
  if (!turn || draining_) co_return;
  tartan::apps::notify_manager("RELOADING=1");
  renewal made;
  bool is_log_anew = false;
  try {
    if (site_->log != nullptr) {
      log_->reopen(site_->settings.access_log);
      is_log_anew = true;
    }
    made = co_await tartan::blocking([&] { return prepare(read()); });
    if (!draining_) take(made);
  } catch (const std::exception& wrong) {
    tell_of_failure(wrong, is_log_anew);
  }
  bool is_written = log_ == nullptr;  // then the old file is nobody's
  try {
    if (!is_written) {
      // A new one stays open until the server's own log has it: a pipe must not lose its writer.
      tartan::task<> flushed = flush_log(std::shared_ptr<tartan::apps::line_log>{std::move(made.log)});
      tartan::task<bool> in_time = ends_by(std::move(flushed), site_->runtime.now() + for_the_disk);
      is_written = co_await std::move(in_time);
    }
  } catch (const std::bad_alloc&) {  // it is opened and written as lines come
  }
  if (!is_written) std::fputs("tartan-web: the access log still waits for its disk or reader; it is opened anew behind that\n", stderr);
  if (!draining_) tartan::apps::notify_manager("READY=1");
}

void server::reopen_log() noexcept {
  if (site_->log == nullptr) return;
  try {
    log_->reopen(site_->settings.access_log);
  } catch (const std::bad_alloc&) {
    std::fputs("tartan-web: no memory to open the access log anew: it is written on as it was; send SIGUSR1 again\n", stderr);
  }
}

/// Those behind the last that was told. Gives whether there was memory for all of them. It never meets a connection
/// that is gone: see serve.
bool server::tell_to_drain(std::uint64_t& last_told) noexcept {
  try {
    for (auto next = open_.upper_bound(last_told); next != open_.end(); ++next) {
      tartan::post(next->second->color(), [client = next->second] { client->drain(); });
      last_told = next->first;
    }
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

/// Those that are left when the time is up are canceled.
tartan::task<> server::end_connections() {
  tartan::timer end{site_->runtime};
  const auto begin_cutting_off = [this] {
    try {
      connections_.spawn(&server::cut_off, this);
    } catch (const std::bad_alloc&) {
      connections_.cancel();
    }
  };
  try {
    end.set(drain_ends_, begin_cutting_off);
  } catch (const std::bad_alloc&) {
    connections_.cancel();
  }
  const tartan::result<tartan::semaphore::permit> all_are_in = co_await accepting_.acquire();
  try {
    co_await connections_.join();
  } catch (const std::bad_alloc&) {  // for cut_off: by that all were canceled
  }
}

/// Asked before they are called off: one that just runs would find that out before it heard of anything else.
tartan::task<> server::cut_off() {
  try {
    std::vector<tartan::task<candidate>> asked;
    for (const auto& [number, open] : open_) asked.push_back(ask(number, *open));
    const std::vector<candidate> all = co_await tartan::when_all(std::move(asked));
    cut_off_ = static_cast<std::size_t>(std::count_if(all.begin(), all.end(), [](const candidate& each) { return !each.how.at_rest; }));
  } catch (const std::bad_alloc&) {  // they are not counted
  }
  connections_.cancel();
}

/// No page is checked ahead of time any more: nobody waits for that, but the disk may hold it up.
tartan::task<> server::end_sweeps() {
  while (no_sweeps_.size() < library::most_sweeps) {
    tartan::result<tartan::semaphore::permit> one = co_await sweeps_->acquire();
    if (!one) co_return;
    no_sweeps_.push_back(std::move(*one));
  }
}

/// When a reload has ended: the disk may be holding it up. `flushed`: flush_log's, made before, for that needs memory.
tartan::task<> server::write_log(tartan::task<> flushed) {
  const tartan::result<tartan::semaphore::permit> turn = co_await reloads_.acquire();
  if (turn && log_ != nullptr) co_await std::move(flushed);
}

/// Responses are being sent: an allocation that fails must not end the program. So each step either has happened, or is
/// tried again.
tartan::task<bool> server::drain() {
  draining_ = true;
  drain_ends_ = site_->runtime.now() + site_->settings.times.drain;
  const auto now = [this] { return site_->runtime.now(); };
  std::uint64_t told = 0;
  bool all_told = tell_to_drain(told);  // before the doors close: a request that comes after that is answered with "close"
  for (door& each : doors_) each.at.close();
  full_.release();  // a connection that waits for a place gets one, also where there are as many as there may be
  while (!all_told && now() < drain_ends_) {
    const tartan::result<> passed = co_await tartan::sleep(for_memory);
    if (!passed) break;
    all_told = tell_to_drain(told);
  }
  // A read or write that the disk does not end cannot be called off: nobody waits for the one who waits for it.
  std::optional<bool> ended;
  for (const auto given_up = drain_ends_ + for_the_disk; now() < given_up;) {
    try {
      tartan::task<> all = one_by_one(end_connections(), end_sweeps());
      tartan::task<bool> in_time = ends_by(std::move(all), given_up);
      ended = co_await std::move(in_time);
    } catch (const std::bad_alloc&) {
      if (now() >= drain_ends_) connections_.cancel();
    }
    if (ended) break;
    const tartan::result<> passed = co_await tartan::sleep(for_memory);
    if (!passed) break;
  }
  if (cut_off_ != 0) {
    std::fprintf(stderr, "tartan-web: the time to drain was over before all was answered: connections that were cut off: %zu\n", cut_off_);
  }
  std::optional<bool> written;
  for (const auto given_up = now() + for_the_disk; now() < given_up;) {
    try {
      tartan::task<> log = write_log(flush_log(nullptr));
      tartan::task<bool> in_time = ends_by(std::move(log), given_up);
      written = co_await std::move(in_time);
    } catch (const std::bad_alloc&) {  // nothing has begun
    }
    if (written) break;
    const tartan::result<> passed = co_await tartan::sleep(for_memory);
    if (!passed) break;
  }
  co_return ended.value_or(connections_.size() == 0) && written.value_or(log_ == nullptr);
}

}  // namespace web
