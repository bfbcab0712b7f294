#include <tartan/dns/connect.h>

#include <netinet/in.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <deque>
#include <functional>
#include <new>
#include <optional>
#include <string_view>
#include <tartan/core/channel.h>
#include <tartan/core/on.h>
#include <tartan/core/post.h>
#include <tartan/core/strand.h>
#include <tartan/core/task_group.h>
#include <tartan/time/with_timeout.h>
#include <utility>
#include <variant>

#include "core/runtime_state.h"
#include "dns/resolver_state.h"

namespace tartan::tcp {

namespace {

using detail::early_addresses;
using detail::host_addresses;
using detail::resolver_state;
using clock = std::chrono::steady_clock;
using shared_state = std::shared_ptr<resolver_state>;

constexpr std::size_t most_addresses = 16;  // of each family: one that is dead must not push the other one out
constexpr std::chrono::milliseconds longest_delay = std::chrono::hours{1};  // more would overflow a count of nanoseconds

/// How the look-up ended; its addresses are all that there are.
struct look_up_ended {
  result<host_addresses> found;
};

/// How an attempt ended.
struct attempt_ended {
  address to;
  result<stream> made;
};

using news = std::variant<early_addresses, look_up_ended, attempt_ended>;

/// Which address is next: families in turns, IPv6 first.
class address_queue {
 public:
  void add(const host_addresses& found, std::uint16_t port) {
    for (const dns::host_address& each : found) {
      const address at = each.at.with_port(port);
      const bool is_ipv6 = at.family() == AF_INET6;
      std::vector<address>& seen = is_ipv6 ? seen_ipv6_ : seen_ipv4_;
      if (seen.size() == most_addresses || std::ranges::find(seen, at) != seen.end()) continue;
      seen.push_back(at);
      waiting(is_ipv6).push_back(at);
    }
  }
  [[nodiscard]] bool empty() const noexcept { return ipv6_.empty() && ipv4_.empty(); }
  [[nodiscard]] bool has_ipv6() const noexcept { return !ipv6_.empty(); }
  [[nodiscard]] address take() {
    if (waiting(next_is_ipv6_).empty()) next_is_ipv6_ = !next_is_ipv6_;
    std::deque<address>& from = waiting(next_is_ipv6_);
    const address next = from.front();
    from.pop_front();
    next_is_ipv6_ = !next_is_ipv6_;
    return next;
  }

 private:
  std::deque<address>& waiting(bool is_ipv6) noexcept { return is_ipv6 ? ipv6_ : ipv4_; }

  std::vector<address> seen_ipv6_;
  std::vector<address> seen_ipv4_;
  std::deque<address> ipv6_;
  std::deque<address> ipv4_;
  bool next_is_ipv6_ = true;
};

/// Closes the channel if its coroutine has no memory to begin, so that the race hears of it.
template <class T>
class reports_to {
 public:
  explicit reports_to(channel<T>& to) noexcept : to_{&to} {}
  reports_to(reports_to&& other) noexcept : to_{std::exchange(other.to_, nullptr)} {}
  reports_to& operator=(reports_to&&) = delete;
  ~reports_to() {
    if (to_ != nullptr) to_->close();
  }

  void begins() noexcept { to_ = nullptr; }

 private:
  channel<T>* to_;
};

/// One connect: attempts beside each other, until one has succeeded.
///
/// Color: the caller's, but for look_up, which goes to the resolver's.
class race final : private detail::address_sink {
 public:
  race(shared_state state, std::string host, std::uint16_t port, const connect_name_options& with,
       std::source_location site)
      : state_{std::move(state)},
        host_{std::move(host)},
        port_{port},
        with_{with},
        attempt_delay_{std::clamp(with.attempt_delay, std::chrono::milliseconds{0}, longest_delay)},
        resolution_delay_{std::clamp(with.resolution_delay, std::chrono::milliseconds{0}, longest_delay)},
        site_{site},
        rt_{detail::required_runtime("tartan::tcp::connect", site)} {}

  task<result<stream>> run() {
    co_return co_await with_task_group([this](task_group& others) -> task<result<stream>> {
      auto won = co_await run_with(others);
      others.cancel();
      co_return won;
    });
  }

 private:
  task<result<stream>> run_with(task_group& others) {
    const color here = current_color();
    others.spawn_in(here, look_up, std::ref(*this), reports_to{heard_});
    for (;;) {
      if (may_begin()) {
        others.spawn_in(here, attempt, std::ref(*this), queue_.take(), reports_to{heard_});
        ++running_;
        next_at_ = now() + attempt_delay_;
        continue;
      }
      if (found_all_ && running_ == 0 && queue_.empty()) co_return last_error_;
      auto heard = co_await with_deadline(wakes_at(), heard_.receive());
      if (!heard && heard.error() == errc::timed_out) continue;
      if (!heard) co_return heard.error();
      if (auto* const won = note(*heard)) co_return std::move(*won);
    }
  }

  /// Ends when all addresses are known, or there is an error to tell.
  static task<> look_up(race& of, reports_to<news> hears) {
    hears.begins();
    result<host_addresses> found = std::make_error_code(std::errc::not_enough_memory);
    try {
      found = co_await of.find();
    } catch (const std::bad_alloc&) {  // the others wait for an end
    }
    news ended{look_up_ended{std::move(found)}};
    static_cast<void>(co_await of.heard_.send(std::move(ended)));
  }

  task<result<host_addresses>> find() {
    const shared_state state = state_;  // the end of a runtime may destroy the race's coroutine before this one
    co_await on(state->where());
    const auto place = state->enter();
    if (!place) co_return place.error();
    co_return co_await state->find_addresses(host_, dns::address_family::any, this);
  }

  task<result<>> hear(early_addresses some) override {
    news early{std::move(some)};
    co_return co_await heard_.send(std::move(early));
  }

  static task<> attempt(race& of, address to, reports_to<news> hears) {
    hears.begins();
    auto made = co_await connect(to, of.site_);
    news ended{attempt_ended{to, std::move(made)}};
    static_cast<void>(co_await of.heard_.send(std::move(ended)));
  }

  [[nodiscard]] clock::time_point now() const noexcept {
    return clock::time_point{std::chrono::nanoseconds{rt_.now_ns()}};
  }

  /// IPv4 addresses wait a little for those of IPv6; an attempt runs alone for a while, unless it fails.
  [[nodiscard]] bool may_begin() const noexcept {
    if (queue_.empty()) return false;
    if (ipv6_awaited_until_ && !queue_.has_ipv6() && now() < *ipv6_awaited_until_) return false;
    return running_ == 0 || now() >= next_at_;
  }

  /// When something may begin of which no news tells.
  [[nodiscard]] clock::time_point wakes_at() const noexcept {
    if (queue_.empty()) return clock::time_point::max();
    if (ipv6_awaited_until_ && !queue_.has_ipv6())
      return std::max(*ipv6_awaited_until_, running_ == 0 ? now() : next_at_);
    return next_at_;
  }

  /// Gives the winner, if this is one.
  result<stream>* note(news& heard) {
    if (auto* const early = std::get_if<early_addresses>(&heard)) {
      note_addresses(*early);
    } else if (auto* const all = std::get_if<look_up_ended>(&heard)) {
      found_all_ = true;
      ipv6_awaited_until_.reset();
      if (all->found) queue_.add(*all->found, port_);
      if (!all->found && !last_error_) last_error_ = all->found.error();
    } else {
      auto& ended = std::get<attempt_ended>(heard);
      --running_;
      next_at_ = now();
      if (with_.attempts != nullptr) with_.attempts->push_back({ended.to, ended.made.error()});
      if (ended.made) return &ended.made;
      last_error_ = ended.made.error();
    }
    return nullptr;
  }

  void note_addresses(const early_addresses& early) {
    if (early.is_ipv6) {
      ipv6_awaited_until_.reset();
    } else if (!early.found.empty()) {  // if there are none of IPv6, the look-up ends now
      ipv6_awaited_until_ = now() + resolution_delay_;
    }
    queue_.add(early.found, port_);
  }

  shared_state state_;
  std::string host_;
  std::uint16_t port_;
  connect_name_options with_;
  std::chrono::milliseconds attempt_delay_;
  std::chrono::milliseconds resolution_delay_;
  std::source_location site_;
  detail::runtime_state& rt_;
  channel<news> heard_{capacity{8}};
  address_queue queue_;
  std::optional<clock::time_point> ipv6_awaited_until_;
  clock::time_point next_at_{};
  std::size_t running_ = 0;
  bool found_all_ = false;
  std::error_code last_error_;
};

task<result<stream>> connect_with(shared_state state, std::string host, std::uint16_t port, connect_name_options with,
                                  std::source_location site) {
  race one{std::move(state), std::move(host), port, with, site};
  co_return co_await one.run();
}

struct host_and_port {
  std::string host;
  std::uint16_t port = 0;
};

std::optional<host_and_port> split(std::string_view at) {
  const std::size_t colon = at.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  if (at.substr(0, colon).find(':') != std::string_view::npos) return std::nullopt;  // an IPv6 address without brackets
  host_and_port parts{std::string{at.substr(0, colon)}, 0};
  const std::string_view port = at.substr(colon + 1);
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), parts.port);
  if (error != std::errc{} || end != port.data() + port.size()) return std::nullopt;
  return parts;
}

/// What this machine does not have, though a name may say so.
bool is_not_here(std::error_code error) noexcept {
  return error == std::errc::address_not_available || error == std::errc::address_family_not_supported;
}

task<result<std::vector<listener>>> without_port() {
  co_return std::make_error_code(std::errc::invalid_argument);
}

task<result<std::vector<listener>>> listen_at_number(runtime& rt, address at, listen_options with) {
  auto door = try_listen(rt, at, with);
  if (!door) co_return door.error();
  std::vector<listener> doors;
  doors.push_back(std::move(*door));
  co_return doors;
}

task<result<std::vector<listener>>> listen_at_host(runtime& rt, task<result<host_addresses>> look_up,
                                                   std::uint16_t port, listen_options with) {
  const auto found = co_await std::move(look_up);
  if (!found) co_return found.error();
  std::vector<listener> doors;
  std::error_code missing;
  for (const dns::host_address& each : *found) {
    auto door = try_listen(rt, each.at.with_port(port), with);
    if (door) {
      doors.push_back(std::move(*door));
    } else if (is_not_here(door.error())) {
      missing = door.error();
    } else {
      co_return door.error();
    }
  }
  if (doors.empty()) co_return missing;
  co_return doors;
}

}  // namespace

task<result<stream>> connect(const dns::resolver& names, std::string host, std::uint16_t port,
                             connect_name_options with, std::source_location site) {
  return connect_with(detail::resolver_access::state(names), std::move(host), port, with, site);
}

task<result<stream>> connect(std::string host, std::uint16_t port, connect_name_options with,
                             std::source_location site) {
  const dns::resolver names{{}, site};
  co_return co_await connect(names, std::move(host), port, with, site);
}

task<result<std::vector<listener>>> listen(runtime& rt, const dns::resolver& names, std::string at,
                                           listen_options with) {
  const auto number = address::parse(at);
  if (number) return listen_at_number(rt, *number, with);
  const auto parts = split(at);
  if (!parts) return without_port();
  return listen_at_host(rt, names.addresses(parts->host), parts->port, with);
}

}  // namespace tartan::tcp
