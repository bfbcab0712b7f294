// The job and the coroutine that waits for it end in either order, on different threads. leave_word decides which of the two destroys the
// job. The job's thread does not touch the job after it has left. It does not touch the coroutine of an abandoned job: the frame may be gone.

#include <tartan/core/abandonable_blocking.h>

#include <new>

#include "core/leave_word.h"
#include "core/memory.h"

namespace tartan::detail {

namespace {

using word = leave_word<real_memory>;

word& word_in(std::byte* bytes) noexcept { return *std::launder(reinterpret_cast<word*>(bytes)); }

}  // namespace

abandonable_job::abandonable_job(std::source_location at) noexcept {
  static_assert(sizeof(word) == sizeof(word_));
  ::new (static_cast<void*>(word_)) word;
  site = at;
  run = &run_off_workers;
  drop = &drop_job;
}

void abandonable_job::run_off_workers(blocking_job& job) noexcept {
  auto& self = static_cast<abandonable_job&>(job);
  chain* const waiter = self.waiter_;
  if (!word_in(self.word_).is_abandoned()) self.call();
  if (word_in(self.word_).end()) {
    waiter->complete();
  } else {
    delete &self;
  }
}

/// If its coroutine waits for it still, that is never resumed, and its frame destroys the job.
void abandonable_job::drop_job(blocking_job& job) noexcept {
  auto& self = static_cast<abandonable_job&>(job);
  if (!word_in(self.word_).end()) delete &self;
}

void abandonable_job::begin(chain& waiter) noexcept {
  waiter_ = &waiter;
  where = waiter.where();
}

bool abandonable_job::abandon() noexcept { return word_in(word_).abandon(); }

}  // namespace tartan::detail
