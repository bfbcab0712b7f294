#include "rpc/connection_state.h"

#include <algorithm>
#include <exception>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <tartan/core/on.h>
#include <tartan/core/post.h>
#include <tartan/core/spawn.h>
#include <tartan/io/local.h>
#include <tartan/rpc/duplicate_cache.h>
#include <tartan/time/with_timeout.h>
#include <utility>

#include "core/runtime_state.h"
#include "rpc/message.h"

namespace tartan::rpc::detail {

namespace {

constexpr std::size_t most_of_calls = 65536;  // in progress: drain() takes a permit for each

/// Replies of an earlier connection must not be taken for those of this one (datagrams), nor repeated calls for new ones.
std::uint32_t drawn(tartan::detail::runtime_state& rt) {
  auto& clock = rt.clock();
  std::uint32_t word = 0;
  if (!clock.has_chance()) return std::random_device{}();
  clock.draw(std::as_writable_bytes(std::span{&word, 1}));
  return word;
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

void check(const settings& with) {
  const std::size_t calls = with.most_calls;
  if (calls == 0 || calls > most_of_calls) {
    throw std::invalid_argument{"tartan: rpc::settings::most_calls is " + std::to_string(calls) +
                                ", not from 1 to 65536"};
  }
  if (with.most_outstanding == 0) throw std::invalid_argument{"tartan: rpc::settings::most_outstanding is 0"};
}

connection_state::connection_state(tartan::detail::runtime_state& rt, std::unique_ptr<transport> over,
                                   settings&& settings_, std::shared_ptr<const programs> serves)
    : with{std::move(settings_)},
      rt_{&rt},
      transport_{std::move(over)},
      where_{transport_->where()},
      peer_{with.peer.size() != 0 ? with.peer : transport_->peer()},
      programs_{std::move(serves)},
      duplicates_{with.duplicates},
      identity_{std::uint64_t{drawn(rt)} << 32 | drawn(rt)},
      next_xid_{drawn(rt)},
      places_{with.most_outstanding},
      in_progress_{with.most_calls} {
  check(with);
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
    std::error_code why;
    try {
      why = co_await self->receive();
    } catch (...) {
      report_exception("a connection ends", std::current_exception());
      why = make_error_code(errc::system_error);
    }
    self->end(as_end(self->reason_ ? self->reason_ : why));
  });
  self->coroutines_ = nullptr;
  for (auto& each : std::exchange(self->gone_handlers_, {})) each();
  self->is_gone_ = true;
}

void connection_state::when_gone(std::function<void()> f) {
  if (is_gone_) {
    f();
  } else {
    gone_handlers_.push_back(std::move(f));
  }
}

void connection_state::begin(const std::shared_ptr<pending_call>& one) {
  if (reason_) {
    one->end(as_end(reason_));
    return;
  }
  const std::size_t passed = one->with.passed.size();
  if (passed > local::max_passed_descriptors || (passed != 0 && !transport_->passes_descriptors())) {
    one->end(std::make_error_code(passed > local::max_passed_descriptors ? std::errc::invalid_argument
                                                                         : std::errc::operation_not_supported));
    return;
  }
  do {
    one->xid = next_xid_++;
  } while (!outstanding_.emplace(one->xid, one).second);
  if (outstanding_.size() == 1) wake_reader();  // which may have paused, and must take the reply
  if (transport_->is_reliable() && (transport_->queued().above_high() || !held_.empty())) {
    held_.push_back(one);
    if (!sends_held_ && coroutines_ != nullptr) {
      sends_held_ = coroutines_->spawn_in(where_, &send_held, shared_from_this());
    }
  } else {
    send_call(*one);
    flush_soon();
  }
  one->next_wait = std::max<std::chrono::nanoseconds>(with.resend.first, std::chrono::milliseconds{1});
  one->sends = 1;
  const std::chrono::nanoseconds timeout = one->with.timeout.count() != 0 ? one->with.timeout : with.call_timeout;
  if (timeout.count() != 0) one->until = now() + timeout;
  arm(one);
}

/// Calls that wait until the peer has taken enough of what was sent before.
task<> connection_state::send_held(std::shared_ptr<connection_state> self) {
  while (!self->held_.empty()) {
    const result<> room = co_await self->transport_->queued().ready();
    if (!room) break;
    if (self->held_.empty()) break;
    const std::shared_ptr<pending_call> one = std::move(self->held_.front());
    self->held_.pop_front();
    self->send_call(*one);
    self->flush_soon();
  }
  self->sends_held_ = false;
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
    remove(one);
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

void connection_state::remove(const std::shared_ptr<pending_call>& one) {
  const auto place = outstanding_.find(one->xid);
  if (place != outstanding_.end() && place->second == one) outstanding_.erase(place);
  std::erase(held_, one);
}

void connection_state::forget(const std::shared_ptr<pending_call>& one) {
  one->let_go();
  remove(one);
}

void connection_state::take_reply(const reply_header& head, incoming&& came) {
  const auto place = outstanding_.find(head.xid);
  if (place == outstanding_.end()) return;  // its caller has given up, or it was answered before
  const std::shared_ptr<pending_call> one = place->second;
  if (!transport_->may_answer(one->with.to, came.from)) return;
  outstanding_.erase(place);
  one->why = {.low = head.low, .high = head.high, .status = head.why};
  one->reply_verifier = head.verifier;
  one->result = std::move(came.message);
  one->returned = std::move(came.passed);
  one->end(error_of(head));
}

void connection_state::send(buf::chain message, const address& to, descriptors passed) {
  if (reason_) return;
  transport_->send(std::move(message), to, std::move(passed));
  flush_soon();
}

void connection_state::flush_soon() {
  if (reads_ || flush_posted_ || reason_) return;
  flush_posted_ = post(where_, [self = shared_from_this()] {
    self->flush_posted_ = false;
    self->flush();
  });
}

void connection_state::flush() {
  if (writes_ || is_replacing_ || reason_ || coroutines_ == nullptr) return;
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
  if (!done) self->close(done.error());
}

void connection_state::end_handler(std::function<void(std::error_code)> f) {
  if (is_over_) {
    post(where_, [f = std::move(f), why = reason_] { f(why); });
  } else {
    end_handlers_.push_back(std::move(f));
  }
}

/// The second call asks the coroutines of procedures to end.
void connection_state::close(std::error_code why) {
  if (!reason_) {
    reason_ = why;
    transport_->close();
  }
  life_.cancel();
}

/// Every call fails, and then the end handlers run.
void connection_state::end(std::error_code why) {
  is_over_ = true;
  reason_ = why;
  transport_->close();
  transport_->queued().fail(why);
  parked_.clear();
  held_.clear();
  starting_.cancel();  // both wait for procedures, which may take as long as they like
  finishing_.cancel();
  for (auto& [xid, one] : std::exchange(outstanding_, {})) one->end(why);
  if (const auto asked = std::exchange(replacement_, nullptr)) {
    asked->error = why;
    asked->done.happen();
  }
  for (auto& each : std::exchange(end_handlers_, {})) {
    try {
      each(why);
    } catch (...) {
      report_exception("an end handler failed", std::current_exception());
    }
  }
  ended_.happen();
}

}  // namespace tartan::rpc::detail
