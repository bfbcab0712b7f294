// What a connection reads: messages, in the order in which they came.
//
// A call that may not begin yet is parked: too many are in progress, or the peer does not take what is sent to it. Then reading
// stops, unless own calls are outstanding: their replies lie behind the parked calls, and procedures in progress may wait for them.

#include <exception>
#include <tartan/core/on.h>
#include <tartan/core/spawn.h>
#include <tartan/core/yield.h>
#include <tartan/time/with_timeout.h>
#include <utility>
#include <vector>

#include "rpc/connection_state.h"

namespace tartan::rpc::detail {

namespace {

constexpr unsigned most_at_once = 64;  // messages that are taken before other events of the color run

/// Reads and waits. A coroutine of its own, so that it can be called off without the stream's other operations.
task<result<>> fill_from(transport* from, std::chrono::nanoseconds idle_limit) {
  if (idle_limit.count() == 0) co_return co_await from->fill();
  co_return co_await with_timeout(idle_limit, from->fill());
}

}  // namespace

/// Until the connection ends; gives why.
task<std::error_code> connection_state::receive() {
  while (!reason_) {
    if (replacement_ != nullptr) {
      const result<> replaced = co_await upgrade();
      if (!replaced) co_return replaced.error();
      continue;
    }
    const std::error_code wrong = co_await take_messages();
    if (wrong) co_return wrong;
    if (reason_ || replacement_ != nullptr) continue;
    if (has_finished_) {
      static_cast<void>(co_await with_timeout(with.linger_limit, transport_->linger()));
      co_return make_error_code(tartan::errc::closed);
    }
    if (is_paused()) {
      const result<bool> woken = co_await wake_.receive();
      if (!woken) co_return woken.error();
      continue;
    }
    const result<> more = co_await fill();
    if (more) continue;
    const bool is_called_off = more.error() == tartan::errc::canceled && (replacement_ != nullptr || has_finished_);
    const bool is_in_use = more.error() == tartan::errc::timed_out && !is_idle();
    if (!is_called_off && !is_in_use) co_return more.error();
  }
  co_return reason_;
}

task<result<>> connection_state::fill() {
  const result<bool> at_once = transport_->try_fill();
  if (!at_once) co_return at_once.error();
  if (*at_once) co_return result<>{};
  reading_ = spawn_in(where_, &fill_from, transport_.get(), with.idle_limit);
  const result<> more = co_await reading_.join();
  reading_ = {};
  co_return more;
}

/// Those that were read.
task<std::error_code> connection_state::take_messages() {
  std::error_code wrong;
  reads_ = true;
  for (unsigned taken = 1; !reason_ && replacement_ == nullptr && !is_paused(); ++taken) {
    incoming came;
    const result<bool> got = transport_->next(came);
    if (!got) wrong = got.error();
    if (!got || !*got) break;
    wrong = take_message(std::move(came));
    if (wrong) break;
    if (taken % most_at_once == 0) {
      reads_ = false;
      flush();
      co_await tartan::yield();
      reads_ = true;
    }
  }
  reads_ = false;
  flush();
  co_return wrong;
}

/// Gives why the connection has to end, if it does.
std::error_code connection_state::take_message(incoming&& came) {
  message_head head = read_head(came.message.slices());
  if (head.bytes != 0) came.message.drop(head.bytes);
  if (auto* const call = std::get_if<call_header>(&head.what)) {
    take_or_park(std::move(came), *call);
    if (parked_.size() > with.most_calls) return make_error_code(tartan::errc::busy);
  } else if (auto* const reply = std::get_if<reply_header>(&head.what)) {
    take_reply(*reply, std::move(came));
  } else if (auto* const other = std::get_if<other_version>(&head.what)) {
    if (transport_->queued().above_high()) return make_error_code(errc::version_mismatch);
    refuse_version(other->xid, came.from);
  } else if (transport_->is_reliable()) {
    return make_error_code(errc::malformed);
  }
  return {};
}

void connection_state::take_or_park(incoming&& came, call_header& head) {
  if (drains_) return;
  if (parked_.empty() && !transport_->queued().above_high()) {
    result<semaphore::permit> permit = in_progress_.try_acquire();
    if (permit) return take_call(std::move(came), head, *std::move(permit));
  }
  parked_.push_back({std::move(came), std::move(head)});
  if (!starting_) starting_ = spawn_in(where_, &start_parked, shared_from_this());
}

task<> connection_state::start_parked(std::shared_ptr<connection_state> self) {
  while (!self->parked_.empty()) {
    const result<> room = co_await self->transport_->queued().ready();
    if (!room) break;
    result<semaphore::permit> permit = co_await self->in_progress_.acquire();
    if (!permit || self->parked_.empty()) break;
    parked_call one = std::move(self->parked_.front());
    self->parked_.pop_front();
    self->take_call(std::move(one.came), one.head, *std::move(permit));
    if (self->replacement_ != nullptr) self->interrupt_reader();
  }
  self->starting_ = {};
  self->wake_reader();
}

bool connection_state::is_paused() const noexcept {
  return !parked_.empty() && outstanding_.empty();
}

bool connection_state::is_idle() const noexcept {
  return parked_.empty() && outstanding_.empty() && in_progress_.available() == with.most_calls;
}

void connection_state::wake_reader() {
  static_cast<void>(wake_.try_send(true));
}

/// Canceling the stream's operations would also end a write in the middle.
void connection_state::interrupt_reader() {
  wake_reader();
  reading_.cancel();
}

/// Sends what is queued, and then goes on with another stream.
task<result<>> connection_state::upgrade() {
  const std::shared_ptr<replacement> asked = replacement_;
  result<> replaced;
  flush();
  while (replaced && transport_->queued().level() != 0) replaced = co_await transport_->queued().flushed();
  if (replaced) {
    is_replacing_ = true;
    replaced = co_await with_timeout(with.upgrade_limit, transport_->replace(asked->how));
    is_replacing_ = false;
  }
  replacement_ = nullptr;
  asked->error = replaced.error();
  asked->done.happen();
  if (replaced) flush();
  co_return replaced;
}

task<result<>> connection_state::replace(std::shared_ptr<connection_state> self, stream_upgrade how) {
  co_await on(self->where_);
  if (self->reason_) co_return self->reason_;
  if (self->replacement_ != nullptr) co_return tartan::errc::busy;
  const auto asked = std::make_shared<replacement>();
  asked->how = std::move(how);
  self->replacement_ = asked;
  self->interrupt_reader();
  const bool is_done = co_await asked->done.happens();
  if (!is_done) co_return tartan::errc::canceled;  // it goes on all the same
  co_return result<>{asked->error};
}

void connection_state::drain() {
  if (std::exchange(drains_, true) || reason_) return;
  finishing_ = spawn_in(where_, &finish, shared_from_this());
}

/// Waits until each call that was read is answered, and the answers are sent.
task<> connection_state::finish(std::shared_ptr<connection_state> self) {
  std::vector<semaphore::permit> all;
  while (all.size() < self->with.most_calls || !self->parked_.empty()) {
    if (all.size() == self->with.most_calls) {
      all.clear();  // for those that are parked
      co_await tartan::yield();
    }
    result<semaphore::permit> one = co_await self->in_progress_.acquire();
    if (!one) co_return;
    all.push_back(*std::move(one));
  }
  self->flush();
  while (self->transport_->queued().level() != 0) {
    const result<> sent = co_await self->transport_->queued().flushed();
    if (!sent) co_return;
  }
  self->has_finished_ = true;
  self->interrupt_reader();
}

}  // namespace tartan::rpc::detail
