#include "http_client/pool.h"

#include <algorithm>
#include <tartan/core/await_blocking.h>
#include <tartan/core/on.h>
#include <utility>

namespace tartan::http::detail {

lease& lease::operator=(lease&& other) noexcept {
  if (this != &other) {
    let_go();
    of_ = std::move(other.of_);
    origin_ = std::move(other.origin_);
    wire_ = std::move(other.wire_);
  }
  return *this;
}

void lease::keep() noexcept {
  if (of_ != nullptr) std::exchange(of_, nullptr)->give_back(std::move(origin_), std::move(wire_));
}

void lease::let_go() noexcept {
  wire_.reset();
  keep();
}

pool::pool(strand own, dns::resolver names, client_settings with)
    : settings{std::move(with)}, strand_{std::move(own)}, names_{std::move(names)} {}

task<std::shared_ptr<tls::client>> pool::secure(std::shared_ptr<pool> self) {
  co_await on(self->strand_.value());
  if (self->secure_ == nullptr) {
    tls::client_settings with = self->settings.secure;
    if (with.protocols.empty()) with.protocols = {"http/1.1"};
    // Reads the authorities' certificates. Another request may do so at the same time; the first one is kept.
    std::shared_ptr<tls::client> made = co_await blocking([&] { return std::make_shared<tls::client>(with); });
    if (self->secure_ == nullptr) self->secure_ = std::move(made);
  }
  co_return self->secure_;
}

task<result<lease>> pool::take(std::shared_ptr<pool> self, std::string origin, bool is_fresh) {
  co_await on(self->strand_.value());
  result<lease> now = self->take_now(origin, is_fresh);
  if (now || now.error() != std::errc::operation_would_block) co_return now;
  if (self->waiting_.size() >= self->settings.most_waiting) co_return tartan::errc::busy;
  waiter waits{std::move(origin), is_fresh};
  self->waiting_.push_back(&waits);
  result<lease> granted = co_await waits.granted.receive();
  if (!granted && granted.error() == tartan::errc::canceled) {
    std::erase(self->waiting_, &waits);
    static_cast<void>(waits.granted.try_receive());  // it may have come at the same time, and goes back
  }
  if (!granted && granted.error() == tartan::errc::end_of_stream) co_return tartan::errc::closed;
  co_return granted;
}

/// std::errc::operation_would_block: all that there may be are in use.
result<lease> pool::take_now(const std::string& of, bool is_fresh) {
  if (is_closed_) return tartan::errc::closed;
  drop_old();
  origin& there = origins_[of];
  if (!is_fresh && !there.idle.empty()) {
    std::unique_ptr<wire> with = std::move(there.idle.back().with);
    there.idle.pop_back();
    return lease{shared_from_this(), of, std::move(with)};
  }
  if (there.open >= settings.most_per_origin && !there.idle.empty()) drop_idle(there);
  if (there.open >= settings.most_per_origin) return std::make_error_code(std::errc::operation_would_block);
  if (open_ >= settings.most_connections && !make_room()) return std::make_error_code(std::errc::operation_would_block);
  ++there.open;
  ++open_;
  return lease{shared_from_this(), of, nullptr};
}

void pool::drop_idle(origin& of) {
  of.idle.pop_front();
  --of.open;
  --open_;
}

void pool::drop_old() {
  const wire::time_point now = wire::now();
  for (auto& [name, each] : origins_) {
    while (!each.idle.empty() && now - each.idle.front().since > settings.idle_limit) drop_idle(each);
  }
  std::erase_if(origins_, [](const auto& each) { return each.second.open == 0; });
}

/// Closes the connection that has been idle for the longest time; false: none is idle.
bool pool::make_room() {
  origin* oldest = nullptr;
  for (auto& [name, each] : origins_) {
    if (!each.idle.empty() && (oldest == nullptr || each.idle.front().since < oldest->idle.front().since))
      oldest = &each;
  }
  if (oldest != nullptr) drop_idle(*oldest);
  return oldest != nullptr;
}

void pool::give_back(std::string of, std::unique_ptr<wire> kept) noexcept {
  strand_.post([self = shared_from_this(), of = std::move(of), kept = std::move(kept)]() mutable {
    origin& there = self->origins_[of];
    if (kept != nullptr && !self->is_closed_) {
      there.idle.push_back({std::move(kept), wire::now()});
    } else {
      --there.open;
      --self->open_;
    }
    self->serve_waiters();
  });
}

/// Those who have waited longest come first, but for those whose origin is full.
void pool::serve_waiters() {
  for (auto each = waiting_.begin(); each != waiting_.end();) {
    waiter* const first = *each;
    result<lease> now = take_now(first->origin, first->is_fresh);
    if (!now) {
      ++each;
      continue;
    }
    each = waiting_.erase(each);
    static_cast<void>(first->granted.try_send(*std::move(now)));
  }
}

void pool::close() {
  strand_.post([self = shared_from_this()] {
    self->is_closed_ = true;
    for (auto& [name, each] : self->origins_) {
      while (!each.idle.empty()) self->drop_idle(each);
    }
    for (waiter* const each : std::exchange(self->waiting_, {})) each->granted.close();
  });
}

}  // namespace tartan::http::detail
