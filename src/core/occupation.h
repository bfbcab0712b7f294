#pragma once
/// What the thread that runs or drains a runtime holds meanwhile.

#include <tartan/core/event.h>

#include "core/lifecycle.h"
#include "core/worker.h"

namespace tartan::detail {

/// Makes a thread a worker's for a while.
class standing_on {
 public:
  explicit standing_on(worker& w) noexcept : before_{here} { here = &w; }
  standing_on(const standing_on&) = delete;
  standing_on& operator=(const standing_on&) = delete;
  ~standing_on() { here = before_; }

 private:
  thread_context* before_;
};

/// Makes the runtime free for the next run, also if a worker's thread could not be started.
class occupation {
 public:
  explicit occupation(lifecycle& life) noexcept : life_{life} {}
  occupation(const occupation&) = delete;
  occupation& operator=(const occupation&) = delete;
  ~occupation() { life_.leave(); }

 private:
  lifecycle& life_;
};

}  // namespace tartan::detail
