#include "tls/link.h"

#include <openssl/x509.h>
#include <tartan/core/event.h>
#include <tartan/core/post.h>
#include <tartan/core/spawn.h>
#include <tartan/core/yield.h>
#include <tartan/time/with_timeout.h>
#include <tartan/tls/errors.h>

#include <algorithm>
#include <array>
#include <new>
#include <string>
#include <utility>

namespace tartan::tls::detail {

namespace {

constexpr std::size_t most_received = 16 * 1024;  // at once, on the thread's stack
constexpr std::size_t most_sealed = 64 * 1024;    // before it is sent
constexpr std::size_t record = 16 * 1024;
constexpr int most_fruitless = 4;  // receives for one read, before other events of the color have their turn

bool would_block(std::error_code why) noexcept { return why == std::errc::operation_would_block; }

/// The parts' bytes in pieces of a record. A part that fills a record is not copied; shorter ones are joined.
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

/// A connection and the permit to write. Destroyed in reverse order: the permit goes while the connection is there.
struct link::held {
  held(std::shared_ptr<link> what, semaphore::permit permit) noexcept : of{std::move(what)}, writes{std::move(permit)} {}

  std::shared_ptr<link> of;
  semaphore::permit writes;
};

link::link(any_stream under, owned<SSL> of, std::shared_ptr<const void> keeps, std::chrono::nanoseconds handshake_limit,
           std::function<std::error_code(SSL&)> check)
    : under_{std::move(under)}, session_{std::move(of)}, keeps_{std::move(keeps)}, handshake_limit_{handshake_limit}, check_{std::move(check)} {}

/// Why nothing can be read or written; empty: it can.
std::error_code link::not_usable() const noexcept {
  if (broken_) return broken_;
  return shaken_ ? std::error_code{} : std::make_error_code(std::errc::not_connected);
}

/// Gives `why`. Later operations get the same, unless that is `canceled`, after which a caller would go on.
std::error_code link::breaks(std::error_code why) noexcept {
  if (!why) why = errc::protocol;
  if (!broken_) broken_ = why == tartan::errc::canceled ? std::make_error_code(std::errc::connection_aborted) : why;
  return why;
}

void link::close(std::source_location site) {
  if (!broken_) broken_ = tartan::errc::closed;
  under_.close(site);
}

void link::cancel(std::source_location site) {
  ++cancels_;
  under_.cancel(site);
}

void link::abandon(std::shared_ptr<link> of) noexcept {
  if (of == nullptr) return;
  const auto end = [of] {
    if (!of->broken_) of->broken_ = tartan::errc::closed;
    of->under_ = {};
  };
  const tartan::detail::thread_context* const now = tartan::detail::here;
  if (now != nullptr && now->in_event && now->running != of->under_.color()) {
    try {
      if (post(of->under_.color(), end)) return;
    } catch (const std::bad_alloc&) {  // then here
    }
  }
  end();
}

/// A permit, unless cancel() is called meanwhile.
task<result<semaphore::permit>> link::enter(link& on, semaphore& one) {
  const std::uint64_t before = on.cancels_;
  result<semaphore::permit> permit = co_await one.acquire();
  if (permit && on.cancels_ != before) co_return tartan::errc::canceled;
  co_return permit;
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
    std::string rest;
    task<result<std::size_t>> going;
    try {
      rest.assign(reinterpret_cast<const char*>(sealed.data()), sealed.size());
      going = on.under_.write(rest);
    } catch (const std::bad_alloc&) {
      co_return unexpected{on.breaks(std::make_error_code(std::errc::not_enough_memory))};
    }
    on.session_.sent();
    const result<std::size_t> went = co_await std::move(going);
    if (!went) co_return unexpected{on.breaks(went.error())};  // also if it was canceled: a part may have gone
  }
}

/// In a coroutine of its own, if it takes time: nobody waits for it.
void link::send_later(semaphore::permit writes) {
  const result<bool> at_once = send_now();
  if (!at_once || *at_once) return;
  const auto send = [](held by) -> task<> {
    try {
      static_cast<void>(co_await send_all(*by.of));
    } catch (const std::bad_alloc&) {
      static_cast<void>(by.of->breaks(std::make_error_code(std::errc::not_enough_memory)));
    }
  };
  try {
    spawn_in(under_.color(), send, held{shared_from_this(), std::move(writes)}).detach();
  } catch (const std::bad_alloc&) {
    static_cast<void>(breaks(std::make_error_code(std::errc::not_enough_memory)));
  }
}

/// After a read: an alert, or the answer to a key update. If somebody holds the permit to write, that coroutine sends it.
void link::send_if_any() {
  if (session_.to_send().empty()) return;
  if (auto permit = writing_.try_acquire()) send_later(std::move(*permit));
}

task<result<>> link::handshake(std::shared_ptr<link> of) {
  link& on = *of;
  if (on.shaken_) co_return *on.shaken_;
  const auto writes = co_await enter(on, on.writing_);
  if (!writes) co_return unexpected{writes.error()};
  const auto reads = co_await enter(on, on.reading_);
  if (!reads) co_return unexpected{reads.error()};
  if (on.shaken_) co_return *on.shaken_;
  if (on.broken_) co_return unexpected{on.broken_};
  result<> done;
  try {
    done = co_await with_timeout(on.handshake_limit_, shake_hands(on));
  } catch (const std::bad_alloc&) {
    done = unexpected{std::make_error_code(std::errc::not_enough_memory)};
  }
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
    const result<> more = co_await receive_more(on);
    if (!more) co_return more;
  }
  if (const std::error_code wrong = on.check()) co_return unexpected{wrong};
  co_return result<>{};
}

/// What OpenSSL does not check.
std::error_code link::check() {
  SSL& of = session_.ssl();
  const X509* const peer = SSL_get0_peer_certificate(&of);
  // A session could be resumed again and again, and its certificate was looked at when the first one began.
  const bool is_verified_before = SSL_session_reused(&of) == 1 && SSL_get_verify_mode(&of) != SSL_VERIFY_NONE && peer != nullptr;
  if (is_verified_before && X509_cmp_current_time(X509_get0_notAfter(peer)) < 0) {
    return {X509_V_ERR_CERT_HAS_EXPIRED, certificate_category()};
  }
  const std::error_code wrong = check_ != nullptr ? check_(of) : std::error_code{};
  if (!wrong) check_ = nullptr;
  return wrong;
}

/// What has come, into the session. With the permit to receive. Errors: operation_would_block; truncated; all others break the connection.
std::error_code link::receive() {
  std::array<std::byte, most_received> room;
  const result<std::size_t> got = under_.try_read_some(mutable_bytes{std::span{room}});
  if (!got && would_block(got.error())) return got.error();
  if (!got && got.error() == tartan::errc::end_of_stream) return errc::truncated;  // of this direction: the peer may read on
  if (!got) return breaks(got.error());
  if (!session_.receive(std::span{room}.first(*got))) return breaks(std::make_error_code(std::errc::not_enough_memory));
  ++received_;
  return {};
}

/// Returns when something has come, for this coroutine or for another one; also for no reason.
task<result<>> link::receive_more(link& on) {
  const std::uint64_t before = on.received_;
  const auto permit = co_await enter(on, on.receiving_);
  if (!permit) co_return unexpected{permit.error()};
  if (on.received_ != before) co_return result<>{};
  if (on.broken_) co_return unexpected{on.broken_};
  const result<> ready = co_await on.under_.readable();
  if (!ready) co_return ready;
  const std::error_code wrong = on.receive();
  if (wrong && !would_block(wrong)) co_return unexpected{wrong};
  co_return result<>{};
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
  if (const std::error_code wrong = on.not_usable()) co_return unexpected{wrong};
  if (into.empty()) co_return std::size_t{0};
  result<semaphore::permit> reads = on.reading_.try_acquire();
  if (!reads) reads = co_await enter(on, on.reading_);
  if (!reads) co_return unexpected{reads.error()};
  for (int fruitless = 0;; ++fruitless) {
    if (on.broken_) co_return unexpected{on.broken_};
    bool needs_input = false;
    const result<std::size_t> got = on.opened(into, needs_input);
    if (!needs_input) co_return got;
    if (fruitless == 0) {  // mostly all is there, and need not be waited for
      const auto receives = on.receiving_.try_acquire();
      const std::error_code wrong = receives ? on.receive() : std::make_error_code(std::errc::operation_would_block);
      if (!wrong) continue;
      if (!would_block(wrong)) co_return unexpected{wrong};
    }
    if (fruitless >= most_fruitless) co_await yield();  // a peer could send messages without data for ever
    const result<> more = co_await receive_more(on);
    if (!more) co_return unexpected{more.error()};
  }
}

task<result<>> link::readable(std::shared_ptr<link> of) {
  link& on = *of;
  if (const std::error_code wrong = on.not_usable()) co_return unexpected{wrong};
  const auto reads = co_await enter(on, on.reading_);
  if (!reads) co_return unexpected{reads.error()};
  if (on.broken_) co_return unexpected{on.broken_};
  if (on.session_.has_received()) co_return result<>{};
  co_return co_await on.under_.readable();
}

result<std::size_t> link::try_read_some(std::span<std::byte> into) {
  if (const std::error_code wrong = not_usable()) return wrong;
  if (into.empty()) return std::size_t{0};
  const auto reads = reading_.try_acquire();
  for (int fruitless = 0; reads && fruitless < most_fruitless; ++fruitless) {
    bool needs_input = false;
    const result<std::size_t> got = opened(into, needs_input);
    if (!needs_input) return got;
    const auto receives = receiving_.try_acquire();
    if (!receives) break;
    if (const std::error_code wrong = receive()) return wrong;
  }
  return std::make_error_code(std::errc::operation_would_block);
}

task<result<std::size_t>> link::write(std::shared_ptr<link> of, const_bytes all) {
  const std::span<const std::byte> one = all;
  co_return co_await write_parts(std::move(of), byte_parts{&one, 1});
}

task<result<std::size_t>> link::write_parts(std::shared_ptr<link> of, byte_parts parts) {
  link& on = *of;
  if (const std::error_code wrong = on.not_usable()) co_return unexpected{wrong};
  result<semaphore::permit> writes = on.writing_.try_acquire();
  if (!writes) writes = co_await enter(on, on.writing_);
  if (!writes) co_return unexpected{writes.error()};
  if (on.broken_) co_return unexpected{on.broken_};
  if (on.session_.is_finished()) co_return std::make_error_code(std::errc::broken_pipe);
  co_return co_await seal_and_send(on, parts);
}

task<result<std::size_t>> link::seal_and_send(link& on, byte_parts parts) {
  std::size_t total = 0;
  for (pieces rest{parts}; !rest.empty();) {
    std::size_t taken = 0;
    const session::need next = on.session_.seal(rest.next(), taken);
    if (next == session::need::input) {  // a message of the peer's has come in part
      const result<> settled = co_await settle(on);
      if (!settled) co_return unexpected{settled.error()};
      continue;
    }
    if (next != session::need::nothing) co_return unexpected{on.breaks(on.session_.error())};
    rest.drop(taken);
    total += taken;
    if (!rest.empty() && on.session_.to_send().size() < most_sealed) continue;
    const result<> sent = co_await send_all(on);
    if (!sent) co_return unexpected{sent.error()};
  }
  co_return total;
}

/// Until no message has come in part, so that the session can seal. With the permit to write.
task<result<>> link::settle(link& on) {
  for (;;) {
    const session::need next = on.session_.handshake();
    const result<> sent = co_await send_all(on);
    if (!sent) co_return sent;
    if (next == session::need::nothing) co_return result<>{};
    if (next != session::need::input) co_return unexpected{on.breaks(on.session_.error())};
    const result<> more = co_await receive_more(on);
    if (!more) co_return unexpected{more.error() == tartan::errc::canceled ? on.breaks(more.error()) : more.error()};
  }
}

task<result<>> link::writable(std::shared_ptr<link> of) {
  link& on = *of;
  if (const std::error_code wrong = on.not_usable()) co_return unexpected{wrong};
  auto writes = co_await enter(on, on.writing_);  // behind what try_write has left
  if (!writes) co_return unexpected{writes.error()};
  if (on.broken_) co_return unexpected{on.broken_};
  const result<> settled = co_await settle(on);
  if (!settled) co_return settled;
  const result<> ready = co_await on.under_.writable();
  if (!on.session_.to_send().empty()) on.send_later(std::move(*writes));  // what a reader has left meanwhile
  co_return ready;
}

result<std::size_t> link::try_write(byte_parts parts) {
  if (const std::error_code wrong = not_usable()) return wrong;
  auto writes = writing_.try_acquire();
  if (!writes) return std::make_error_code(std::errc::operation_would_block);
  if (session_.is_finished()) return std::make_error_code(std::errc::broken_pipe);
  std::size_t total = 0;
  for (pieces rest{parts}; !rest.empty() && total < most_sealed;) {
    std::size_t taken = 0;
    const session::need next = session_.seal(rest.next(), taken);
    if (next == session::need::input && total == 0) return std::make_error_code(std::errc::operation_would_block);
    if (next == session::need::input) break;
    if (next != session::need::nothing) return breaks(session_.error());
    rest.drop(taken);
    total += taken;
  }
  send_later(std::move(*writes));
  if (broken_) return broken_;
  return total;
}

task<result<>> link::shutdown_send(std::shared_ptr<link> of) {
  link& on = *of;
  if (const std::error_code wrong = on.not_usable()) co_return unexpected{wrong};
  const auto writes = co_await enter(on, on.writing_);
  if (!writes) co_return unexpected{writes.error()};
  if (on.broken_) co_return unexpected{on.broken_};
  const result<> settled = co_await settle(on);
  if (!settled) co_return settled;
  on.session_.finish();
  const result<> sent = co_await send_all(on);
  if (!sent) co_return sent;
  co_return co_await on.under_.shutdown_send();
}

}  // namespace tartan::tls::detail
