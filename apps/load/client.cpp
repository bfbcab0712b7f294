#include "load/client.h"

#include <tartan/core/post.h>
#include <tartan/time/sleep.h>
#include <tartan/time/with_timeout.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <utility>

namespace load {

namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

constexpr auto after_failure = 10ms;  // before a client that has failed connects anew: it would keep the machine busy with nothing else
constexpr int slow_buffer = 4096;     // the system's, of a client that reads slowly
constexpr double slow_pieces = 10;    // reads per second of such a client

std::int64_t ns_of(double seconds) { return static_cast<std::int64_t>(seconds * 1e9); }

/// The first reason only: ten thousand clients would have the same one.
void tell_once(const std::string& host, std::error_code why) {
  static std::atomic<bool> is_told{false};
  if (!is_told.exchange(true)) std::fprintf(stderr, "tartan-load: no TLS connection to '%s': %s\n", host.c_str(), why.message().c_str());
}

clock::time_point at(std::int64_t ns) { return clock::time_point{clock::duration{ns}}; }

}  // namespace

client::client(load_state& of, std::uint64_t number)
    : load_{of}, site_{of.pages.site_of(number)}, chance_{of.settings.seed, number}, timer_{tartan::current_color()},
      in_{std::make_unique_for_overwrite<std::byte[]>(small)} {
  if (of.settings.rate > 0) period_ = std::max<std::int64_t>(1, ns_of(static_cast<double>(of.settings.clients) / of.settings.rate));
}

tartan::task<> client::run() {
  watch(now_ns(load_.runtime));
  co_await ask();
  timer_.cancel();
  was_connected_ = is_open();
  close();
  if (is_paced()) count_rest();
}

tartan::task<> client::ask() {
  bool goes_on = true;
  while (goes_on) {
    const ending how = co_await use_connection();
    if (load_.counts.is_over()) co_return co_await stay();
    close();
    if (how == ending::failed) {
      const tartan::result<> slept = co_await tartan::sleep(after_failure);
      goes_on = slept.has_value();
    }
  }
}

/// Until it is canceled.
tartan::task<> client::stay() {
  for (bool goes_on = true; goes_on;) {
    const tartan::result<> slept = co_await tartan::sleep(24h);
    goes_on = slept.has_value();
  }
}

/// From its beginning to its end.
tartan::task<client::ending> client::use_connection() {
  if (is_paced() && has_arrived_) {
    const bool is_due = co_await wait_until_due();  // before: what connecting takes counts, and no server has to keep an idle connection
    if (!is_due) co_return ending::renewed;
  }
  const bool is_open = co_await open();
  if (!is_open) co_return ending::failed;
  has_idled_ = false;
  const std::uint64_t most = load_.settings.requests_per_connection;
  for (asked_here_ = 0; most == 0 || asked_here_ < most; ++asked_here_) {
    if (asked_here_ != 0) asked_at_ = now_;
    is_waiting_ = true;
    if (is_paced()) {
      const bool is_due = co_await wait_until_due();
      if (!is_due) co_return ending::renewed;
    }
    begin_request();
    tartan::result<std::size_t> sent = tartan::errc::closed;
    if (site_.secure == nullptr) {
      sent = co_await stream_.write(page_->request);
    } else {
      sent = co_await sealed_.write(page_->request);
    }
    verdict answer = verdict::failed;
    if (sent) {
      answer = co_await receive();
    } else if (!is_late()) {
      fail(timed_out_ ? error_kind::timeout : error_kind::write);
    }
    if (answer == verdict::failed && is_late()) {
      load_.counts.count_renewed();
      give_up_claim();
      co_return ending::renewed;  // the same request, on a new connection
    }
    end_request();
    if (answer == verdict::failed) co_return ending::failed;
    if (answer == verdict::last || load_.counts.is_over()) break;
  }
  co_return ending::renewed;
}

/// A first request's answer takes as long as it does from here, or from the attempt before that failed: who is not accepted waits, too.
tartan::task<bool> client::open() {
  tartan::semaphore::permit turn;
  if (!has_arrived_) {  // later ones are a part of what is measured
    tartan::result<tartan::semaphore::permit> got = co_await load_.connects.acquire();
    if (!got) co_return false;
    turn = std::move(*got);
  }
  if (!is_paced() && !is_waiting_) asked_at_ = now_ns(load_.runtime);  // else an attempt before this one has failed
  is_waiting_ = true;
  kept_ = 0;
  timed_out_ = false;
  const std::chrono::nanoseconds limit{ns_of(load_.settings.timeout)};
  tartan::result<tartan::tcp::stream> made = co_await tartan::with_timeout(limit, tartan::tcp::connect(site_.at));
  now_ = now_ns(load_.runtime);
  arrive();
  if (!made) {
    const bool is_late = made.error() == tartan::errc::timed_out;
    if (made.error() != tartan::errc::canceled) fail(is_late ? error_kind::timeout : error_kind::connect);
    co_return false;
  }
  if (load_.settings.pause_read != 0) static_cast<void>(made->set_receive_buffer(slow_buffer));
  if (site_.secure == nullptr) {
    stream_ = std::move(*made);
  } else {
    tartan::result<tartan::tls::stream> sealed = co_await tartan::with_timeout(limit, site_.secure->connect(std::move(*made), site_.host));
    now_ = now_ns(load_.runtime);
    if (!sealed) {
      if (sealed.error() != tartan::errc::canceled) {
        tell_once(site_.host, sealed.error());
        fail(sealed.error() == tartan::errc::timed_out ? error_kind::timeout : error_kind::connect);
      }
      co_return false;
    }
    sealed_ = std::move(*sealed);
  }
  load_.counts.count_connection();
  co_return true;
}

void client::close() {
  stream_.close();
  sealed_ = {};
}

void client::arrive() {
  if (std::exchange(has_arrived_, true)) return;
  load_.arrived();
  // Spread over a period, or all would ask at once.
  due_ = now_ + static_cast<std::int64_t>(chance_.part() * static_cast<double>(period_));
}

/// A request that could not be sent in time is sent at once, and counts from when it was due: so that a server that stops does not also stop
/// those who would have found it stopped.
tartan::task<bool> client::wait_until_due() {
  asked_at_ = due_;
  has_idled_ = now_ < due_;
  if (has_idled_) {
    const tartan::result<> slept = co_await tartan::sleep_until(at(due_));
    now_ = now_ns(load_.runtime);
    if (!slept) co_return false;
  }
  co_return !load_.counts.is_over();
}

void client::begin_request() {
  if (page_ == nullptr) page_ = &load_.pages.draw(site_, chance_);
  waiting_since_ = now_;
  has_received_ = false;
  has_failed_ = false;
  if (!collected_.empty()) collected_.clear();  // it was asked for on a connection that has ended
  const std::string_view* const known = page_->body->known();
  is_claimant_ = known == nullptr && page_->body->claim();
  reader_.begin(known, collected_, is_claimant_ ? kept_of_pattern : kept_of_unknown);
}

/// Another one may ask for the page before this one does again.
void client::give_up_claim() {
  if (std::exchange(is_claimant_, false) && page_->body->known() == nullptr) page_->body->give_up();
}

void client::end_request() {
  give_up_claim();
  page_ = nullptr;
  if (!collected_.empty()) std::string{}.swap(collected_);  // not needed again, once the body is known
  if (is_in_time()) {  // else it was due, and waits on
    if (is_paced() && has_failed_) load_.counts.count_failed(now_, asked_at_);
    due_ += period_;
    is_waiting_ = false;
  }
  long_in_.reset();
}

tartan::task<client::verdict> client::receive() {
  verdict result = verdict::more;
  while (result == verdict::more) {
    tartan::result<std::size_t> got = tartan::errc::closed;
    if (site_.secure == nullptr) {
      got = co_await stream_.read_some(room());
    } else {
      got = co_await sealed_.read_some(room());
    }
    result = got ? take(*got) : end_of_input(got.error());
    if (result != verdict::more || load_.settings.pause_read == 0) continue;
    const bool goes_on = co_await pause(*got);
    if (!goes_on) result = verdict::failed;
  }
  if (result == verdict::failed) now_ = now_ns(load_.runtime);
  co_return result;
}

/// For as long as these bytes are to take.
tartan::task<bool> client::pause(std::size_t bytes) {
  const std::chrono::nanoseconds time{ns_of(static_cast<double>(bytes) / static_cast<double>(load_.settings.pause_read))};
  const tartan::result<> slept = co_await tartan::sleep(time);
  waiting_since_ = now_ns(load_.runtime);
  co_return slept.has_value();
}

std::span<std::byte> client::room() {
  if (is_long() && long_in_ == nullptr) long_in_ = std::make_unique_for_overwrite<std::byte[]>(large);
  std::span<std::byte> all{is_long() ? long_in_.get() : in_.get(), is_long() ? large : small};
  all = all.subspan(kept_);
  if (load_.settings.pause_read == 0) return all;
  const double most = static_cast<double>(load_.settings.pause_read) / slow_pieces;
  return all.first(std::min(all.size(), static_cast<std::size_t>(std::max(1.0, most))));
}

/// Takes what came into the room.
client::verdict client::take(std::size_t bytes) {
  has_received_ = true;
  std::byte* const from = is_long() ? long_in_.get() : in_.get();
  const std::string_view text{reinterpret_cast<const char*>(from), kept_ + bytes};
  std::size_t used = 0;
  const response_reader::outcome outcome = reader_.take(text, used);
  kept_ = text.size() - used;
  const bool is_odd = outcome == response_reader::outcome::malformed || (outcome == response_reader::outcome::complete && kept_ != 0) ||
                      kept_ == small;
  if (is_odd) {  // nobody knows where the next answer would begin
    fail(reader_.status() == 0 ? error_kind::status : error_kind::length);
    return verdict::failed;
  }
  if (outcome == response_reader::outcome::incomplete) {
    if (used != 0 && kept_ != 0) std::memmove(from, from + used, kept_);
    return verdict::more;
  }
  now_ = now_ns(load_.runtime);
  return judge();
}

/// Of an answer that is complete.
client::verdict client::judge() {
  constexpr unsigned ok = 200;
  if (reader_.status() != ok) {
    fail(error_kind::status);
  } else if (is_as_expected()) {
    const measure::counted counted = load_.counts.count_answer(now_, asked_at_, reader_.body_bytes());
    if (counted != measure::counted::no) ++answers_;
    if (counted == measure::counted::last) load_.complete();
  }
  return reader_.keep_alive() ? verdict::next : verdict::last;
}

bool client::is_as_expected() {
  bool has_length = reader_.has_expected_length();
  bool has_bytes = reader_.has_expected_bytes();
  if (!reader_.has_expectation()) {
    if (collected_.size() == reader_.body_bytes()) page_->body->learn(collected_);
    const std::string_view* const known = page_->body->known();
    has_length = known == nullptr || known->size() == reader_.body_bytes();
    has_bytes = known == nullptr || known->starts_with(collected_);
  }
  if (!has_length) {
    fail(error_kind::length);
  } else if (!has_bytes) {
    fail(error_kind::body);
  }
  return has_length && has_bytes;
}

client::verdict client::end_of_input(std::error_code why) {
  now_ = now_ns(load_.runtime);
  const bool is_end = why == tartan::errc::end_of_stream;
  if (is_end && reader_.finish() == response_reader::outcome::complete) return judge();
  if (is_late()) return verdict::failed;
  if (timed_out_) {
    fail(error_kind::timeout);
  } else if (is_end) {
    fail(error_kind::closed_early);
  } else if (why != tartan::errc::canceled) {
    fail(error_kind::read);
  }
  return verdict::failed;
}

/// When all is over, what is torn down is nobody's mistake.
void client::fail(error_kind what) {
  now_ = now_ns(load_.runtime);
  has_failed_ = true;
  if (!load_.counts.is_over()) load_.counts.count_error(what);
}

/// One timer for however many requests: it looks when the oldest that it may meet would be late.
void client::watch(std::int64_t from) {
  timer_.set(at(from + ns_of(load_.settings.timeout)), [this] { look_at_clock(); });
}

void client::look_at_clock() {
  const std::int64_t now = now_ns(load_.runtime);
  const bool is_waiting = page_ != nullptr && is_open();
  if (is_waiting && now - waiting_since_ >= ns_of(load_.settings.timeout)) {
    timed_out_ = true;
    site_.secure != nullptr ? sealed_.cancel() : stream_.cancel();
    return watch(now);
  }
  watch(is_waiting ? waiting_since_ : now);
}

std::uint64_t client::waits() const noexcept {
  const std::int64_t since = is_paced() ? due_ : asked_at_;
  const std::int64_t end = load_.counts.ended_at();
  const bool counts = is_waiting_ && load_.counts.has_begun() && load_.counts.is_over() && since < end;
  return counts ? static_cast<std::uint64_t>(end - since) : 0;
}

/// What was due and has no answer waits on: without it the slowest would count for nothing.
void client::count_rest() {
  const std::int64_t end = load_.counts.ended_at();
  if (!load_.counts.is_over() || !has_arrived_) return;
  for (std::int64_t due = due_; due < end; due += period_) load_.counts.count_unanswered(static_cast<std::uint64_t>(end - due));
}

}  // namespace load
