#pragma once
/// The steps of a chain that each wait takes, for who has to save the calls.

#include <coroutine>
#include <new>
#include <tartan/core/chain.h>
#include <tartan/core/event.h>

#include "core/memory.h"
#include "core/wait_word.h"

namespace tartan::detail {

/// Color: the chain's.
struct chain_steps {
  using word = wait_word<real_memory>;

  static word& word_of(chain& c) noexcept { return *std::launder(reinterpret_cast<word*>(c.word_)); }
  static const word& word_of(const chain& c) noexcept { return *std::launder(reinterpret_cast<const word*>(c.word_)); }

  [[nodiscard]] static bool cancel_requested(const chain& c) noexcept { return word_of(c).cancel_requested(); }

  /// chain::wait.
  [[nodiscard]] static bool wait(chain& c, std::coroutine_handle<> self, operation& op) noexcept {
    c.handle_ = self;
    c.operation_ = &op;
    wait_duty duty = word_of(c).wait(false);
    if (duty == wait_duty::withdraw) [[unlikely]] {
      if (op.cancel()) return false;
      duty = word_of(c).wait(true);
    }
    return duty == wait_duty::suspended;
  }

  /// The first half of chain::complete_here: whether the coroutine is the caller's to run. Else it is what is to cancel it, and is on its
  /// way, that resumes it.
  [[nodiscard]] static bool complete(chain& c) noexcept { return word_of(c).complete() == wait_duty::resume; }
  /// The second half.
  static void run(chain& c) noexcept { c.run(c.handle_); }

  /// The frame of the coroutine that is to resume; null before the first time.
  [[nodiscard]] static void* frame_of(const chain& c) noexcept { return c.handle_.address(); }

  /// tartan::detail::take_inline, within a function that is no coroutine.
  [[nodiscard]] static bool take_inline() noexcept {
    thread_context* const context = here;
    if (context->inline_left == 0) return false;
    --context->inline_left;
    return true;
  }
};

}  // namespace tartan::detail
