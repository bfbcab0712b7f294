// The side of a connection that answers calls.

#include <cstdio>
#include <exception>
#include <tartan/core/post.h>
#include <tartan/io/local.h>
#include <tartan/rpc/duplicate_cache.h>
#include <tartan/rpc/procedure.h>
#include <utility>

#include "rpc/connection_state.h"
#include "rpc/record_reader.h"

namespace tartan::rpc {

namespace detail {

/// A call whose reply a duplicate_cache keeps.
struct remembered_call {
  duplicate_cache::key key;
};

namespace {

constexpr std::uint32_t null_procedure = 0;

reply_header head_of(const reply_path& path) {
  return {.xid = path.xid, .verifier = path.verifier};
}

reply_header head_of(const reply_path& path, const refusal_reply& why) {
  reply_header head{.xid = path.xid, .status = why.status, .verifier = path.verifier, .low = why.low, .high = why.high};
  if (why.denied) {
    head.accepted = false;
    head.reject = reject_reason::auth_error;
    head.why = *why.denied;
  }
  return head;
}

/// Keeps the reply for a client that repeats its call.
void remember(reply_path& path, const buf::chain& message, const connection_state& of) {
  if (path.remembered) of.duplicates()->end(path.remembered->key, message, of.now());
}

void send_message(std::unique_ptr<reply_path> path, buf::chain&& message, descriptors&& passed) {
  remember(*path, message, *path->of);
  connection_state& of = *path->of;
  of.here([path = std::move(path), message = std::move(message), passed = std::move(passed)]() mutable {
    path->of->send(std::move(message), path->to, std::move(passed));
  });
}

}  // namespace

bool is_here(const reply_path& path) noexcept {
  return in_event() && current_color() == path.of->where();
}

buf::chain* begin_success(const reply_path& path, std::size_t result_bytes) {
  if (path.remembered || path.of->is_over()) return nullptr;
  const reply_header head = head_of(path);
  buf::chain* const place = path.of->over().begin_place(size_of(head) + result_bytes);
  if (place != nullptr) write(*place, head);
  return place;
}

void end_success(std::unique_ptr<reply_path> path, std::size_t result_bytes) {
  path->of->over().end_place(size_of(head_of(*path)) + result_bytes);
  path->of->flush_soon();
}

void send_success(std::unique_ptr<reply_path> path, buf::chain&& result, descriptors&& with) {
  const bool may_pass = path->of->with.passes_descriptors && with.size() <= local::max_passed_descriptors;
  if (!with.empty() && !may_pass) return send_failure(std::move(path));
  buf::chain message;
  write(message, head_of(*path));
  message.append(std::move(result));
  send_message(std::move(path), std::move(message), std::move(with));
}

void send_refusal(std::unique_ptr<reply_path> path, const refusal_reply& why) {
  buf::chain message;
  write(message, head_of(*path, why));
  send_message(std::move(path), std::move(message), {});
}

/// Of a token that was dropped. Not remembered: the client may try again.
void send_failure(std::unique_ptr<reply_path> path) {
  if (path->remembered) path->of->duplicates()->forget(std::exchange(path->remembered, nullptr)->key);
  send_refusal(std::move(path), {});
}

void send_nothing(std::unique_ptr<reply_path> path) {
  if (path->remembered) path->of->duplicates()->forget(path->remembered->key);
}

void connection_state::refuse_version(std::uint32_t xid, const address& to) {
  buf::chain message;
  rpc::write(message, reply_header{.xid = xid,
                                   .accepted = false,
                                   .reject = reject_reason::rpc_mismatch,
                                   .low = protocol_version,
                                   .high = protocol_version});
  send(std::move(message), to, {});
}

/// Whether the call was made before: then it is answered as before, or its answer is on the way.
bool connection_state::is_repeated(const call_info& info, const buf::chain& arguments, reply_path& path) {
  const duplicate_cache::key key{.peer = info.peer,
                                 .connection = info.peer.is_ip() ? 0 : identity_,
                                 .xid = info.xid,
                                 .program = info.program,
                                 .version = info.version,
                                 .procedure = info.procedure,
                                 .checksum = duplicate_cache::checksum_of(arguments.slices())};
  buf::chain known;
  switch (duplicates_->begin(key, now(), known)) {
    case duplicate_cache::verdict::fresh:
      path.remembered = std::make_shared<const remembered_call>(key);
      return false;
    case duplicate_cache::verdict::in_progress:
      return true;
    case duplicate_cache::verdict::done:
      break;
  }
  send(std::move(known), path.to, {});
  return true;
}

/// Whether the program's authenticate function has answered the call, or asked for another stream.
bool connection_state::is_refused(const call_info& info, std::unique_ptr<reply_path>& path) {
  if (!with.authenticate) return false;
  authentication decided = with.authenticate(info);
  const bool is_long = decided.verifier.body.size() > decided.verifier.body.max;
  const bool cannot = decided.upgrade && (!transport_->is_reliable() || replacement_ != nullptr);
  if (is_long || cannot) decided.status = auth_status::failed;
  if (decided.status != auth_status::ok) {
    send_refusal(std::move(path), {.denied = decided.status});
    return true;
  }
  path->verifier = std::move(decided.verifier);
  if (!decided.upgrade) return false;
  send_success(std::move(path), {}, {});
  replacement_ = std::make_shared<replacement>();
  replacement_->how = std::move(decided.upgrade);
  return true;
}

void connection_state::begin_call(call_info& info, incoming&& came, std::unique_ptr<reply_path>& path) {
  if (is_refused(info, path)) return;
  const programs::entry* const served = programs_ != nullptr ? programs_->find(info.program, info.version) : nullptr;
  if (served == nullptr) {
    const auto versions = programs_ != nullptr ? programs_->versions(info.program) : std::nullopt;
    refusal_reply why{.status = accept_status::program_unavailable};
    if (versions) {
      why = {.status = accept_status::program_mismatch, .low = versions->first, .high = versions->second};
    }
    send_refusal(std::move(path), why);
    return;
  }
  const bool is_remembered =
      served->is_remembered ? served->is_remembered(info.procedure) : info.procedure != null_procedure;
  if (duplicates_ != nullptr && is_remembered && is_repeated(info, came.message, *path)) return;
  served->start(
      {std::move(info), std::move(came.message), std::move(came.passed), reply_token{std::move(path)}, with.decoding});
}

void connection_state::take_call(incoming&& came, call_header& head, semaphore::permit&& permit) {
  auto path = std::make_unique<reply_path>();
  path->of = shared_from_this();
  path->xid = head.xid;
  path->to = came.from;
  path->permit = std::move(permit);
  call_info info{.xid = head.xid,
                 .program = head.program,
                 .version = head.version,
                 .procedure = head.procedure,
                 .credentials = std::move(head.credentials),
                 .verifier = std::move(head.verifier),
                 .peer = transport_->is_reliable() ? peer_ : came.from,
                 .is_datagram = !transport_->is_reliable(),
                 .over = owner_};
  try {
    begin_call(info, std::move(came), path);
  } catch (...) {
    report_exception("a call failed", std::current_exception());
    if (path != nullptr) send_refusal(std::move(path), {});
  }
}

}  // namespace detail

void reply_token::drop() noexcept {
  if (*this) detail::send_failure(std::move(path_));
}

namespace detail {

accept_status status_of(const std::error_code& error) noexcept {
  return error == errc::bad_arguments ? accept_status::garbage_arguments : accept_status::system_error;
}

void report_exception(const char* what, std::exception_ptr thrown) noexcept {
  try {
    std::rethrow_exception(std::move(thrown));
  } catch (const std::exception& e) {
    std::fprintf(stderr, "tartan: rpc: %s: %s\n", what, e.what());
  } catch (...) {
    std::fprintf(stderr, "tartan: rpc: %s: an exception that is no std::exception\n", what);
  }
}

void report_exception(const call_info& of, std::exception_ptr thrown) noexcept {
  char what[80];
  std::snprintf(what, sizeof what, "procedure %u of program %u version %u failed", of.procedure, of.program,
                of.version);
  report_exception(what, std::move(thrown));
}

void run_beside(const std::shared_ptr<connection_state>& of, task<> procedure) {
  task_group* const all = of->coroutines();
  if (all == nullptr) return;  // the connection has ended
  all->spawn_in(of->where(), [](task<> one) -> task<> { co_await std::move(one); }, std::move(procedure));
}

}  // namespace detail

}  // namespace tartan::rpc
