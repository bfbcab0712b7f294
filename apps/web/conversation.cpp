#include "web/conversation.h"

#include <algorithm>
#include <new>
#include <system_error>
#include <utility>

#include "web/site.h"

namespace web {

using namespace std::chrono_literals;

namespace {

constexpr auto linger_for = 2s;  // while the peer sends nothing
constexpr auto quick = 100ms;    // for the end, when another one waits for the place

channel channel_over(tartan::tcp::stream stream, tartan::tls::server* with) {
  return with != nullptr ? channel{std::move(stream), *with} : channel{std::move(stream)};
}

}  // namespace

conversation::conversation(std::shared_ptr<web::site> of, tartan::tcp::stream stream, tartan::tls::server* with)
    : peer{channel_over(std::move(stream), with)}, site{std::move(of)}, timer_{site->runtime, peer.socket().color()} {}

void conversation::enter(phase next) {
  const time_limits& limits = site->settings.times;
  phase_ = next;
  waits_since_ = now;
  timed_out_ = false;
  const auto in_drain = [&](std::chrono::milliseconds limit, std::chrono::milliseconds most) { return draining ? std::min(limit, most) : limit; };
  const auto limit = [&]() -> std::chrono::milliseconds {
    switch (next) {
      case phase::head: return in_drain(limits.header, hurry);
      // Nobody connects in order to wait.
      case phase::idle: return in_drain(asked ? limits.idle : limits.header, last_call());
      case phase::body: return limits.idle;
      case phase::lingering: return leaves ? quick : draining ? hurry : linger_for;
      case phase::parting: return leaves ? quick : limits.write;
      case phase::file:
      case phase::sending: break;
    }
    return limits.write;
  }();
  deadline_ = now + limit;
  watch();
}

void conversation::watch() {
  if (timer_at_ <= deadline_) return;
  timer_at_ = time::max();
  timer_.set(deadline_, [this] { look_at_clock(); });
  timer_at_ = deadline_;
}

void conversation::watch_or_cancel() noexcept {
  try {
    watch();
  } catch (const std::bad_alloc&) {
    peer.socket().cancel();
  }
}

void conversation::end_by(time then) noexcept {
  deadline_ = std::min(deadline_, then);
  watch_or_cancel();
}

void conversation::limit(time then) {
  deadline_ = std::min(deadline_, then);
  watch();
}

void conversation::look_at_clock() {
  timer_at_ = time::max();
  now = site->runtime.now();
  if (now < deadline_) return watch();
  expire();
}

void conversation::expire() {
  switch (phase_) {
    case phase::idle:
    case phase::head:
    case phase::body:
      timed_out_ = true;
      deadline_ = now + hurry;  // what is canceled may have ended already, and the next wait of the same operation have begun
      watch_or_cancel();
      return peer.socket().cancel();
    case phase::file:  // the disk takes its time, not the client
      return enter(phase::file);
    case phase::parting:
      if (leaves) return peer.socket().close();  // it has had no time to read its last answer
      [[fallthrough]];
    case phase::sending:
      static_cast<void>(peer.socket().set_reset_on_close(true));  // else the kernel keeps what was not read
      [[fallthrough]];
    case phase::lingering:
      return peer.socket().close();
  }
}

conversation::interruption conversation::begin_disk() {
  const interruption before{phase_, waits_since_, deadline_, now};
  enter(phase::file);
  return before;
}

void conversation::end_disk(const interruption& of) {
  now = site->runtime.now();
  phase_ = of.was;
  waits_since_ = of.waits_since + (now - of.began);
  deadline_ = of.deadline + (now - of.began);
  watch();
}

std::chrono::milliseconds conversation::last_call() const noexcept {
  return std::min<std::chrono::milliseconds>(hurry, site->settings.times.drain / 2);
}

std::size_t conversation::look_again(std::span<std::byte> room) noexcept {
  has_looked = true;
  if (room.empty()) return 0;
  try {
    return peer.try_read_some(room).value_or(std::size_t{0});
  } catch (const std::bad_alloc&) {
    return 0;
  }
}

tartan::task<> conversation::linger(std::chrono::seconds most) {
  if (!peer.socket().shutdown_send()) co_return;
  const time begun = now;
  const auto end = [&] { return begun + (leaves ? std::min<std::chrono::milliseconds>(quick, most) : most); };
  for (; now < end(); now = site->runtime.now()) {
    enter(phase::lingering);
    limit(end());
    const tartan::result<> ready = co_await peer.socket().readable();
    if (!ready) co_return;
    const std::span<char> dropped{site->stores.local().of_file};
    const tartan::result<std::size_t> got = peer.socket().try_read_some(std::as_writable_bytes(dropped));
    if (!got && got.error() != std::errc::operation_would_block) co_return;
  }
}

}  // namespace web
