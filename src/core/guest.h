#pragma once
/// Foreign threads (threads that are no workers), as a runtime knows them.

#include <cstdint>

#include "core/line_pool.h"
#include "core/memory.h"
#include "core/posting_gates.h"

namespace tartan::detail {

class guests;

/// What one foreign thread has at one runtime. Threads: its own, but for the gate.
///
/// Lifetime: from the thread's first post to the runtime's end or the thread's, whichever comes last. If the thread ends first,
/// the next new one takes it over, with the lines that are in it.
/// Limits: 128 bytes, and 24 KB of free lines (two groups in each cache), for each foreign thread of those that were there at once.
struct alignas(128) guest : posting_gate<real_memory> {
  explicit guest(const guests& host) noexcept : at{&host} {}

  const guests* at;                ///< constant
  guest* next = nullptr;           ///< of the runtime's; constant once it is added
  guest* next_of_thread = nullptr;
  line_cache event_lines;
  line_cache queue_lines;
};
static_assert(sizeof(guest) == 128);

/// What the calling thread has at runtimes, the last used first. Some may be gone (guest::is_owned).
extern constinit thread_local guest* guests_here;

/// All foreign threads of one runtime.
class guests {
 public:
  guests() = default;
  guests(const guests&) = delete;
  guests& operator=(const guests&) = delete;
  /// Threads: after the last post.
  ~guests();

  /// The calling thread's; made at its first post. Null if there is no memory, or while the thread's thread-locals are destroyed.
  /// Cost: three loads for the runtime that the thread posted to last.
  [[nodiscard]] guest* mine() noexcept {
    guest* const last = guests_here;
    // is_owned: another runtime may have been at this address
    if (last != nullptr && last->at == this && last->is_owned()) [[likely]] return last;
    return find_mine();
  }

  /// As posting_gates. Threads: outside of posts.
  void pass() noexcept { gates_.pass(); }
  void await_left() noexcept { gates_.await_left(); }

  /// Until leave(), nobody ends the runtime; what refuses is to be looked at inside. Gives what leave() takes. Nests.
  [[nodiscard]] guest* enter() noexcept {
    guest* const g = mine();
    if (g != nullptr) [[likely]] {
      g->enter();
    } else {
      gates_.enter_common();
    }
    return g;
  }
  /// If it is the outermost, nothing of the runtime is touched after it.
  void leave(guest* entered) noexcept {
    if (entered != nullptr) [[likely]] {
      entered->leave();
    } else {
      gates_.leave_common();
    }
  }

  /// The same, in scope. Nothing that is the user's is called or destroyed inside: it might drain the runtime, and wait for itself.
  class posting {
   public:
    explicit posting(guests& all) noexcept : all_{all}, mine_{all.enter()} {}
    posting(const posting&) = delete;
    posting& operator=(const posting&) = delete;
    ~posting() { all_.leave(mine_); }

   private:
    guests& all_;
    guest* mine_;
  };

 private:
  [[gnu::noinline]] guest* find_mine() noexcept;
  [[nodiscard]] guest* enroll() noexcept;

  posting_gates<real_memory, guest> gates_;
};

}  // namespace tartan::detail
