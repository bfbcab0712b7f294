#include "rpc/connection_state.h"

#include <algorithm>
#include <random>
#include <span>
#include <tartan/core/on.h>
#include <tartan/core/post.h>
#include <tartan/core/spawn.h>
#include <tartan/core/yield.h>
#include <tartan/rpc/duplicate_cache.h>
#include <tartan/time/with_timeout.h>
#include <utility>

#include "core/runtime_state.h"
#include "rpc/message.h"

namespace tartan::rpc::detail {

namespace {

constexpr unsigned most_at_once = 64;  // messages that are taken before other events of the color run

/// Replies of an earlier connection must not be taken for those of this one (datagrams), nor repeated calls for new ones.
std::uint32_t first_xid(tartan::detail::runtime_state& rt) {
  auto& clock = rt.clock();
  std::uint32_t first = 0;
  if (!clock.has_chance()) return std::random_device{}();
  clock.draw(std::as_writable_bytes(std::span{&first, 1}));
  return first;
}

std::error_code error_of(const reply_header& head) {
  if (!head.accepted) {
    return head.reject == reject_reason::rpc_mismatch ? errc::version_mismatch : errc::authentication;
  }
  switch (head.status) {
    case accept_status::success:
      return {};
    case accept_status::program_unavailable:
      return make_error_code(errc::program_unavailable);
    case accept_status::program_mismatch:
      return make_error_code(errc::program_mismatch);
    case accept_status::procedure_unavailable:
      return make_error_code(errc::procedure_unavailable);
    case accept_status::garbage_arguments:
      return make_error_code(errc::bad_arguments);
    case accept_status::system_error:
      return make_error_code(errc::system_error);
  }
  return make_error_code(errc::malformed);
}

/// Why the connection ended, as calls are told.
std::error_code as_end(const std::error_code& why) {
  return why == tartan::errc::end_of_stream ? make_error_code(errc::disconnected) : why;
}

}  // namespace

connection_state::connection_state(tartan::detail::runtime_state& rt, std::unique_ptr<transport> over,
                                   settings&& settings_, std::shared_ptr<const programs> serves)
    : with{std::move(settings_)},
      rt_{&rt},
      transport_{std::move(over)},
      where_{transport_->where()},
      peer_{transport_->peer()},
      programs_{std::move(serves)},
      duplicates_{with.duplicates},
      next_xid_{first_xid(rt)},
      places_{with.most_outstanding},
      in_progress_{with.most_calls} {
  if (duplicates_ == nullptr && !transport_->is_reliable()) duplicates_ = std::make_shared<duplicate_cache>();
}

connection_state::~connection_state() = default;

connection_owner::~connection_owner() {
  of_->here([of = of_] { of->close(tartan::errc::closed); });
}

std::chrono::steady_clock::time_point connection_state::now() const noexcept {
  return std::chrono::steady_clock::time_point{std::chrono::nanoseconds{rt_->now_ns()}};
}

void connection_state::start(const std::shared_ptr<connection_owner>& owner) {
  owner_ = owner;
  auto self = owner->state();
  here([self] { self->life_ = spawn_in(self->where_, &run, self); });
}

task<> connection_state::run(std::shared_ptr<connection_state> self) {
  co_await with_task_group([&self](task_group& all) -> task<> {
    self->coroutines_ = &all;
    const std::error_code why = co_await self->receive();
    self->end(as_end(self->reason_ ? self->reason_ : why));
  });
  self->coroutines_ = nullptr;
}

/// Until the connection ends; gives why.
task<std::error_code> connection_state::receive() {
  for (;;) {
    reads_ = true;
    for (unsigned taken = 0;;) {
      incoming came;
      result<bool> got = transport_->next(came);
      if (!got) co_return got.error();
      if (!*got) break;
      message_head head = read_head(came.message.slices());
      if (head.bytes != 0) came.message.drop(head.bytes);
      if (auto* const call = std::get_if<call_header>(&head.what)) {
        result<semaphore::permit> permit = in_progress_.try_acquire();
        if (!permit || transport_->queued().above_high()) {
          const result<> room = co_await make_room(permit);
          if (!room) co_return room.error();
        }
        const stream_upgrade asked = take_call(std::move(came), *call, *std::move(permit));
        if (asked) {
          const result<> replaced = co_await upgrade(asked);
          if (!replaced) co_return replaced.error();
        }
      } else if (auto* const reply = std::get_if<reply_header>(&head.what)) {
        take_reply(*reply, std::move(came));
      } else if (auto* const other = std::get_if<other_version>(&head.what)) {
        refuse_version(other->xid, came.from);
      } else if (transport_->is_reliable()) {
        co_return make_error_code(errc::malformed);
      }
      if (is_over_) co_return reason_;
      if (++taken % most_at_once == 0) co_await let_others_run();
    }
    reads_ = false;
    flush();
    if (replacement_ != nullptr) {
      const result<> replaced = co_await upgrade_as_asked();
      if (!replaced) co_return replaced.error();
    }
    if (drains_) co_return co_await finish();
    const result<> more = co_await transport_->fill();
    const bool is_interrupted = more.error() == tartan::errc::canceled && (replacement_ != nullptr || drains_);
    if (!more && !is_interrupted) co_return more.error();
  }
}

task<> connection_state::let_others_run() {
  reads_ = false;
  flush();
  co_await tartan::yield();
  reads_ = true;
}

/// Waits until the peer may have one more call in progress, and has taken enough of what was sent to it.
task<result<>> connection_state::make_room(result<semaphore::permit>& permit) {
  reads_ = false;
  flush();
  if (transport_->queued().above_high()) {
    const result<> taken = co_await transport_->queued().ready();
    if (!taken) co_return taken;
  }
  reads_ = true;
  if (permit) co_return result<>{};
  reads_ = false;
  permit = co_await in_progress_.acquire();
  reads_ = true;
  co_return permit ? result<>{} : result<>{permit.error()};
}

/// Sends what is queued, and then goes on with another stream.
task<result<>> connection_state::upgrade(const stream_upgrade& how) {
  const bool reads = std::exchange(reads_, false);
  flush();
  while (transport_->queued().level() != 0) {
    const result<> sent = co_await transport_->queued().flushed();
    if (!sent) co_return sent;
  }
  is_replacing_ = true;
  const result<> replaced = co_await transport_->replace(how);
  is_replacing_ = false;
  if (replaced) flush();
  reads_ = reads;
  co_return replaced;
}

task<result<>> connection_state::upgrade_as_asked() {
  const std::shared_ptr<replacement> asked = std::exchange(replacement_, nullptr);
  const result<> replaced = co_await upgrade(asked->how);
  asked->error = replaced.error();
  asked->done.happen();
  co_return replaced;
}

/// Reads nothing more. Waits until each call in progress is answered, and the answers are sent.
task<std::error_code> connection_state::finish() {
  std::vector<semaphore::permit> all;
  while (all.size() < with.most_calls) {
    result<semaphore::permit> one = co_await in_progress_.acquire();
    if (!one) co_return one.error();
    all.push_back(*std::move(one));
  }
  flush();
  while (transport_->queued().level() != 0) {
    const result<> sent = co_await transport_->queued().flushed();
    if (!sent) co_return sent.error();
  }
  static_cast<void>(co_await with_timeout(with.linger_limit, transport_->linger()));
  co_return make_error_code(tartan::errc::closed);
}

void connection_state::drain() {
  if (drains_ || is_over_) return;
  drains_ = true;
  interrupt_reader();
}

/// Canceling the stream's operations would also end a write in the middle.
void connection_state::interrupt_reader() {
  if (writes_) {
    is_interrupt_due_ = true;
  } else {
    transport_->interrupt();
  }
}

task<result<>> connection_state::replace(std::shared_ptr<connection_state> self, stream_upgrade how) {
  co_await on(self->where_);
  if (self->is_over_) co_return self->reason_;
  if (self->replacement_ != nullptr || self->is_replacing_) co_return tartan::errc::busy;
  const auto asked = std::make_shared<replacement>();
  asked->how = std::move(how);
  self->flush();
  while (self->transport_->queued().level() != 0) {
    const result<> sent = co_await self->transport_->queued().flushed();
    if (!sent) co_return sent;
  }
  self->replacement_ = asked;
  self->interrupt_reader();
  static_cast<void>(co_await asked->done.happens());
  if (!asked->done.happened()) co_return tartan::errc::canceled;  // it goes on all the same
  co_return result<>{asked->error};
}

void connection_state::begin(const std::shared_ptr<pending_call>& one) {
  if (is_over_) {
    one->end(reason_);
    return;
  }
  do {
    one->xid = next_xid_++;
  } while (!outstanding_.emplace(one->xid, one).second);
  send_call(*one);
  flush_soon();
  one->next_wait = with.resend.first;
  one->sends = 1;
  const std::chrono::nanoseconds timeout = one->with.timeout.count() != 0 ? one->with.timeout : with.call_timeout;
  if (timeout.count() != 0) one->until = now() + timeout;
  arm(one);
}

void connection_state::send_call(pending_call& one) {
  const call_header head{.xid = one.xid,
                         .program = one.program,
                         .version = one.version,
                         .procedure = one.procedure,
                         .credentials = std::move(one.with.credentials),
                         .verifier = std::move(one.with.verifier)};
  const std::size_t bytes = size_of(head) + one.arguments.size();
  buf::chain* const place = one.with.passed.empty() ? transport_->begin_place(bytes) : nullptr;
  if (place != nullptr) {
    rpc::write(*place, head);
    append_cheaply(*place, std::move(one.arguments));
    transport_->end_place(bytes);
    return;
  }
  buf::chain message;
  rpc::write(message, head);
  message.append(std::move(one.arguments));
  if (!transport_->is_reliable()) {
    for (const buf::slice& each : message.slices()) one.message.append(each);
  }
  transport_->send(std::move(message), one.with.to, std::move(one.with.passed));
}

/// Sets the timer of a call: for its end, or before that to send it again.
void connection_state::arm(const std::shared_ptr<pending_call>& one) {
  const bool is_sent_again = !transport_->is_reliable();
  if (!is_sent_again && !one->until) return;
  auto at = one->until.value_or(std::chrono::steady_clock::time_point::max());
  if (is_sent_again) at = std::min(at, now() + one->next_wait);
  if (!one->timer) one->timer.emplace(where_);
  one->timer->set(at, [self = shared_from_this(), one] { self->time_is_up(one); });
}

void connection_state::time_is_up(const std::shared_ptr<pending_call>& one) {
  const bool is_last = transport_->is_reliable() || (!one->until && one->sends >= with.resend.sends);
  if (is_last || (one->until && now() >= *one->until)) {
    outstanding_.erase(one->xid);
    one->end(make_error_code(tartan::errc::timed_out));
    return;
  }
  ++one->sends;
  one->next_wait *= 2;
  buf::chain again;
  for (const buf::slice& each : one->message.slices()) again.append(each);
  transport_->send(std::move(again), one->with.to, {});
  flush_soon();
  arm(one);
}

void connection_state::forget(const std::shared_ptr<pending_call>& one) {
  one->let_go();
  const auto place = outstanding_.find(one->xid);
  if (place != outstanding_.end() && place->second == one) outstanding_.erase(place);
}

void connection_state::take_reply(const reply_header& head, incoming&& came) {
  const auto place = outstanding_.find(head.xid);
  if (place == outstanding_.end()) return;  // its caller has given up, or it was answered before
  const std::shared_ptr<pending_call> one = place->second;
  if (one->with.to.size() != 0 && came.from != one->with.to) return;
  outstanding_.erase(place);
  one->why = {.low = head.low, .high = head.high, .status = head.why};
  one->reply_verifier = head.verifier;
  one->result = std::move(came.message);
  one->returned = std::move(came.passed);
  one->end(error_of(head));
}

void connection_state::send(buf::chain message, const address& to, descriptors passed) {
  if (is_over_) return;
  transport_->send(std::move(message), to, std::move(passed));
  flush_soon();
}

void connection_state::flush_soon() {
  if (reads_ || flush_posted_ || is_over_) return;
  flush_posted_ = post(where_, [self = shared_from_this()] {
    self->flush_posted_ = false;
    self->flush();
  });
}

void connection_state::flush() {
  if (writes_ || is_replacing_ || is_over_ || coroutines_ == nullptr) return;
  const result<bool> done = transport_->try_flush();
  if (!done) {
    close(done.error());
  } else if (!*done) {
    writes_ = coroutines_->spawn_in(where_, &write, shared_from_this());
  }
}

task<> connection_state::write(std::shared_ptr<connection_state> self) {
  const result<> done = co_await self->transport_->flush();
  self->writes_ = false;
  if (!done) {
    self->close(done.error());
  } else if (std::exchange(self->is_interrupt_due_, false)) {
    self->transport_->interrupt();
  }
}

void connection_state::end_handler(std::function<void(std::error_code)> f) {
  if (is_over_) {
    post(where_, [f = std::move(f), why = reason_] { f(why); });
  } else {
    end_handlers_.push_back(std::move(f));
  }
}

void connection_state::close(std::error_code why) {
  if (is_over_ || reason_) return;
  reason_ = why;
  transport_->close();
  life_.cancel();
}

/// Every call fails, and then the end handlers run.
void connection_state::end(std::error_code why) {
  is_over_ = true;
  reason_ = why;
  transport_->close();
  transport_->queued().fail(why);
  for (auto& [xid, one] : std::exchange(outstanding_, {})) one->end(why);
  if (const auto asked = std::exchange(replacement_, nullptr)) {
    asked->error = why;
    asked->done.happen();
  }
  for (auto& each : std::exchange(end_handlers_, {})) each(why);
  ended_.happen();
}

}  // namespace tartan::rpc::detail
