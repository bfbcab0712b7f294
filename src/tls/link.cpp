#include "tls/link.h"

#include <tartan/core/spawn.h>
#include <tartan/time/with_timeout.h>
#include <tartan/tls/errors.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace tartan::tls::detail {

namespace {

constexpr std::size_t most_received = 16 * 1024;  // at once, on the thread's stack
constexpr std::size_t most_sealed = 64 * 1024;    // before it is sent
constexpr std::size_t record = 16 * 1024;

bool would_block(std::error_code why) noexcept { return why == std::errc::operation_would_block; }

/// The parts' bytes in pieces of a record: a part as it is, where that fills one, and else several together.
class pieces {
 public:
  explicit pieces(byte_parts from) noexcept : from_{from} { skip_empty(); }

  [[nodiscard]] bool empty() const noexcept { return from_.empty(); }
  [[nodiscard]] std::span<const std::byte> next() {
    const std::span<const std::byte> first = from_.front().subspan(at_);
    if (first.size() >= record || from_.size() == 1) return first.first(std::min(first.size(), record));
    joined_.clear();
    std::size_t from = at_;
    for (const auto& each : from_) {
      const auto part = each.subspan(std::exchange(from, 0));
      const std::size_t room = record - joined_.size();
      joined_.append(reinterpret_cast<const char*>(part.data()), std::min(part.size(), room));
      if (part.size() >= room) break;
    }
    return std::as_bytes(std::span{joined_});
  }
  void drop(std::size_t bytes) noexcept {
    while (bytes != 0) {
      const std::size_t here = std::min(bytes, from_.front().size() - at_);
      at_ += here;
      bytes -= here;
      skip_empty();
    }
  }

 private:
  void skip_empty() noexcept {
    while (!from_.empty() && at_ == from_.front().size()) {
      from_ = from_.subspan(1);
      at_ = 0;
    }
  }

  byte_parts from_;
  std::size_t at_ = 0;
  std::string joined_;
};

}  // namespace

link::link(any_stream under, owned<SSL> of, std::shared_ptr<const void> keeps, std::chrono::nanoseconds handshake_limit,
           std::function<std::error_code(SSL&)> check)
    : under_{std::move(under)}, session_{std::move(of)}, keeps_{std::move(keeps)}, handshake_limit_{handshake_limit}, check_{std::move(check)} {}

std::error_code link::breaks(std::error_code why) noexcept {
  if (!broken_) broken_ = why;
  return why;
}

void link::close(std::source_location site) {
  if (!broken_) broken_ = tartan::errc::closed;
  under_.close(site);
}

void link::abandon() noexcept {
  if (!broken_) broken_ = tartan::errc::closed;
  under_ = {};
}

/// What the session has to say, as far as it goes at once. With the permit to write. False: not all of it.
result<bool> link::send_now() {
  const std::span<const std::byte> sealed = session_.to_send();
  if (sealed.empty()) return true;
  const result<std::size_t> went = under_.try_write(const_bytes{sealed});
  if (!went && !would_block(went.error())) return unexpected{breaks(went.error())};
  if (went && *went == sealed.size()) {
    session_.sent();
    return true;
  }
  if (went && !session_.sent_all_but(sealed.size() - *went)) return unexpected{breaks(std::make_error_code(std::errc::not_enough_memory))};
  return false;
}

/// All of it. With the permit to write.
task<result<>> link::send_all(link& on) {
  for (;;) {
    const result<bool> at_once = on.send_now();
    if (!at_once) co_return unexpected{at_once.error()};
    if (*at_once) co_return result<>{};
    const std::span<const std::byte> sealed = on.session_.to_send();
    const std::string rest{reinterpret_cast<const char*>(sealed.data()), sealed.size()};
    on.session_.sent();
    const result<std::size_t> went = co_await on.under_.write(rest);
    if (!went) co_return unexpected{on.breaks(went.error())};  // also of one that was canceled: a part may have gone
  }
}

/// In a coroutine of its own, if it takes time: nobody waits for it.
void link::send_later(semaphore::permit held) {
  const result<bool> at_once = send_now();
  if (!at_once || *at_once) return;
  spawn_in(under_.color(),
           [](std::shared_ptr<link> of, semaphore::permit permit) -> task<> {
             const semaphore::permit writes = std::move(permit);  // given back before the link may end
             static_cast<void>(co_await send_all(*of));
           },
           shared_from_this(), std::move(held))
      .detach();
}

/// After a read: an alert, or an answer to the peer's keys. Whoever writes sends it, if somebody does.
void link::send_if_any() {
  if (session_.to_send().empty()) return;
  if (auto permit = writing_.try_acquire()) send_later(std::move(*permit));
}

task<result<>> link::handshake(std::shared_ptr<link> of) {
  link& on = *of;
  if (on.shaken_) co_return *on.shaken_;
  const auto permit = co_await on.writing_.acquire();
  if (!permit) co_return unexpected{permit.error()};
  if (on.shaken_) co_return *on.shaken_;
  const result<> done = co_await with_timeout(on.handshake_limit_, shake_hands(on));
  if (!done) static_cast<void>(on.breaks(done.error()));
  on.shaken_ = done;
  co_return done;
}

task<result<>> link::shake_hands(link& on) {
  for (;;) {
    const session::need next = on.session_.handshake();
    const result<> sent = co_await send_all(on);
    if (next == session::need::error) co_return unexpected{on.session_.error()};  // rather than that the alert did not go
    if (!sent) co_return sent;
    if (next == session::need::nothing) break;
    if (next == session::need::end) co_return unexpected{errc::truncated};
    const result<> ready = co_await on.under_.readable();
    if (!ready) co_return ready;
    const std::error_code wrong = on.receive();
    if (wrong && !would_block(wrong)) co_return unexpected{wrong};
  }
  if (on.check_ != nullptr) {
    const std::error_code wrong = std::exchange(on.check_, nullptr)(on.ssl());
    if (wrong) co_return unexpected{wrong};
  }
  co_return result<>{};
}

/// What has come, into the session. Errors: operation_would_block.
std::error_code link::receive() {
  std::array<std::byte, most_received> room;
  const result<std::size_t> got = under_.try_read_some(mutable_bytes{std::span{room}});
  if (!got) return got.error() == tartan::errc::end_of_stream ? make_error_code(errc::truncated) : got.error();
  return session_.receive(std::span{room}.first(*got)) ? std::error_code{} : std::make_error_code(std::errc::not_enough_memory);
}

/// What the session has for a reader.
result<std::size_t> link::opened(std::span<std::byte> into, bool& needs_input) {
  std::size_t got = 0;
  const session::need next = session_.open(into, got);
  send_if_any();
  needs_input = next == session::need::input;
  switch (next) {
    case session::need::nothing: return got;
    case session::need::end: return tartan::errc::end_of_stream;
    case session::need::error: return breaks(session_.error());
    case session::need::input: break;
  }
  return std::make_error_code(std::errc::operation_would_block);
}

task<result<std::size_t>> link::read_some(std::shared_ptr<link> of, std::span<std::byte> into) {
  link& on = *of;
  if (into.empty()) co_return std::size_t{0};
  const auto permit = co_await on.reading_.acquire();
  if (!permit) co_return unexpected{permit.error()};
  for (;;) {
    if (on.broken_) co_return unexpected{on.broken_};
    bool needs_input = false;
    const result<std::size_t> got = on.opened(into, needs_input);
    if (!needs_input) co_return got;
    const std::error_code wrong = on.receive();
    if (!wrong) continue;
    if (!would_block(wrong)) co_return unexpected{on.breaks(wrong)};
    const result<> ready = co_await on.under_.readable();
    if (!ready) co_return unexpected{ready.error()};
  }
}

task<result<>> link::readable(std::shared_ptr<link> of) {
  link& on = *of;
  const auto permit = co_await on.reading_.acquire();
  if (!permit) co_return unexpected{permit.error()};
  if (on.broken_) co_return unexpected{on.broken_};
  if (on.session_.has_received()) co_return result<>{};
  co_return co_await on.under_.readable();
}

result<std::size_t> link::try_read_some(std::span<std::byte> into) {
  if (broken_) return broken_;
  if (into.empty()) return std::size_t{0};
  const auto permit = reading_.try_acquire();
  if (!permit) return std::make_error_code(std::errc::operation_would_block);
  for (;;) {
    bool needs_input = false;
    const result<std::size_t> got = opened(into, needs_input);
    if (!needs_input) return got;
    const std::error_code wrong = receive();
    if (wrong) return would_block(wrong) ? wrong : breaks(wrong);
  }
}

task<result<std::size_t>> link::write(std::shared_ptr<link> of, const_bytes all) {
  const std::span<const std::byte> one = all;
  co_return co_await write_parts(std::move(of), byte_parts{&one, 1});
}

task<result<std::size_t>> link::write_parts(std::shared_ptr<link> of, byte_parts parts) {
  const auto permit = co_await of->writing_.acquire();
  if (!permit) co_return unexpected{permit.error()};
  if (of->broken_) co_return unexpected{of->broken_};
  co_return co_await seal_and_send(*of, parts);
}

task<result<std::size_t>> link::seal_and_send(link& on, byte_parts parts) {
  std::size_t total = 0;
  for (pieces rest{parts}; !rest.empty();) {
    std::size_t taken = 0;
    // Without renegotiation it never waits for input.
    if (on.session_.seal(rest.next(), taken) != session::need::nothing) co_return unexpected{on.breaks(on.session_.error())};
    rest.drop(taken);
    total += taken;
    if (!rest.empty() && on.session_.to_send().size() < most_sealed) continue;
    const result<> sent = co_await send_all(on);
    if (!sent) co_return unexpected{sent.error()};
  }
  co_return total;
}

task<result<>> link::writable(std::shared_ptr<link> of) {
  const auto permit = co_await of->writing_.acquire();  // behind what try_write has left
  if (!permit) co_return unexpected{permit.error()};
  if (of->broken_) co_return unexpected{of->broken_};
  co_return co_await of->under_.writable();
}

result<std::size_t> link::try_write(byte_parts parts) {
  if (broken_) return broken_;
  auto permit = writing_.try_acquire();
  if (!permit) return std::make_error_code(std::errc::operation_would_block);
  std::size_t total = 0;
  for (pieces rest{parts}; !rest.empty() && total < most_sealed;) {
    std::size_t taken = 0;
    if (session_.seal(rest.next(), taken) != session::need::nothing) return breaks(session_.error());
    rest.drop(taken);
    total += taken;
  }
  send_later(std::move(*permit));
  if (broken_) return broken_;
  return total;
}

task<result<>> link::shutdown_send(std::shared_ptr<link> of) {
  link& on = *of;
  const auto permit = co_await on.writing_.acquire();
  if (!permit) co_return unexpected{permit.error()};
  if (on.broken_) co_return unexpected{on.broken_};
  on.session_.finish();
  const result<> sent = co_await send_all(on);
  if (!sent) co_return sent;
  co_return co_await on.under_.shutdown_send();
}

}  // namespace tartan::tls::detail
