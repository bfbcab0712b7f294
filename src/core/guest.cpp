// Who has a guest: the thread, in its list guests_here, and the runtime, in its list of gates. Neither knows when the other ends,
// and a lock over both lists would be one of the whole process; so each gives up its half in one step, and the second destroys it.

#include "core/guest.h"

#include <new>
#include <utility>

namespace tartan::detail {

constinit thread_local guest* guests_here = nullptr;

namespace {

constinit thread_local bool thread_ends = false;

/// Gives up all that the thread has, when it ends.
struct departure {
  ~departure() {
    thread_ends = true;  // other thread-locals may still post when they are destroyed
    while (guest* const g = guests_here) {
      guests_here = g->next_of_thread;
      if (g->vacate()) delete g;
    }
  }
};

}  // namespace

guests::~guests() {
  // What the calling thread has it need not keep until its own end.
  for (guest** link = &guests_here; *link != nullptr; link = &(*link)->next_of_thread) {
    guest* const g = *link;
    if (g->at != this || !g->is_owned()) continue;
    *link = g->next_of_thread;
    (void)g->vacate();
    break;
  }
  gates_.end([](guest& g) { delete &g; });
}

guest* guests::find_mine() noexcept {
  for (guest** link = &guests_here; *link != nullptr;) {
    guest* const g = *link;
    if (!g->is_owned()) {  // its runtime is gone
      *link = g->next_of_thread;
      delete g;
    } else if (g->at == this) {
      *link = g->next_of_thread;
      g->next_of_thread = std::exchange(guests_here, g);
      return g;
    } else {
      link = &g->next_of_thread;
    }
  }
  return enroll();
}

guest* guests::enroll() noexcept {
  if (thread_ends) return nullptr;
  static thread_local departure at_exit;
  (void)at_exit;
  guest* g = gates_.claim();
  if (g == nullptr) {
    g = new (std::nothrow) guest{*this};
    if (g == nullptr) return nullptr;
    gates_.add(*g);
  }
  g->next_of_thread = std::exchange(guests_here, g);
  return g;
}

}  // namespace tartan::detail
