#pragma once
/// A call that waits for its reply.

#include <chrono>
#include <cstdint>
#include <optional>
#include <system_error>
#include <tartan/buf/chain.h>
#include <tartan/core/semaphore.h>
#include <tartan/rpc/connection.h>
#include <tartan/time/timer.h>
#include <utility>

#include "rpc/one_shot.h"

namespace tartan::rpc::detail {

/// What came of a call.
struct call_outcome {
  std::error_code error;
  buf::chain result;
  descriptors passed;
  opaque_auth verifier;
  refusal why;
};

/// Color: the connection's, unless a member says otherwise. The caller's coroutine and the connection own it.
class pending_call {
 public:
  explicit pending_call(const address& where_to) noexcept : to{where_to} {}

  const address to;

  /// The first outcome counts.
  void end(call_outcome&& came) {
    if (ended_.happened()) return;
    outcome_ = std::move(came);
    timer.reset();
    message = {};
    place = {};
    ended_.happen();
  }
  void fail(std::error_code why) {
    call_outcome outcome;
    outcome.error = why;
    end(std::move(outcome));
  }
  /// The caller does not wait any more.
  void abandon() {
    timer.reset();
    message = {};
    place = {};
  }

  /// Color: the caller's. False: canceled.
  [[nodiscard]] one_shot::wait ended() noexcept { return ended_.happens(); }
  /// Color: the caller's, once it has ended.
  [[nodiscard]] call_outcome& outcome() noexcept { return outcome_; }

  // The connection's.
  std::uint32_t xid = 0;
  std::optional<tartan::timer> timer;
  buf::chain message;  ///< kept to be sent again
  unsigned sends = 0;
  std::chrono::nanoseconds next_wait{};
  std::optional<std::chrono::steady_clock::time_point> until;
  semaphore::permit place;

 private:
  call_outcome outcome_;
  one_shot ended_{"the reply to a call"};
};

}  // namespace tartan::rpc::detail
