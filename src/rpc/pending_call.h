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

/// Color: the connection's, unless a member says otherwise. The caller's coroutine and the connection own it.
class pending_call final : public prepared_call {
 public:
  /// The first outcome counts: an error, or a reply, whose parts were put into their places before.
  void end(std::error_code failed) {
    if (ended_.happened()) return;
    end_reason_ = failed;
    let_go();
    ended_.happen();
  }
  /// The caller does not wait any more.
  void let_go() {
    timer.reset();
    message = {};
    place = {};
  }

  /// Color: the caller's. False: canceled.
  [[nodiscard]] one_shot::wait ended() noexcept { return ended_.happens(); }
  /// Color: the caller's, once it has ended.
  [[nodiscard]] std::error_code end_reason() const noexcept { return end_reason_; }

  // The caller's, before it begins.
  semaphore::permit place;
  bool has_place = false;

  // The connection's.
  std::uint32_t xid = 0;
  std::optional<tartan::timer> timer;
  buf::chain message;  ///< kept to be sent again
  unsigned sends = 0;
  std::chrono::nanoseconds next_wait{};
  std::optional<std::chrono::steady_clock::time_point> until;

  // The reply's, until it has ended.
  descriptors returned;
  opaque_auth reply_verifier;
  refusal why;

 private:
  std::error_code end_reason_;
  one_shot ended_{"the reply to a call"};
};

}  // namespace tartan::rpc::detail
