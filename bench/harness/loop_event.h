#pragma once
// An event of Tartan's size for loops that have none of their own: a callable of 40 bytes and the post site.

#include <cstddef>
#include <new>
#include <source_location>
#include <type_traits>

namespace bench {

/// One line, as Tartan's events are.
struct alignas(64) loop_event {
  void (*run)(loop_event&) = nullptr;
  std::source_location site;
  std::byte storage[40];

  template <class F>
  loop_event(const F& f, std::source_location posted_at) : site{posted_at} {
    static_assert(sizeof(F) <= sizeof storage && std::is_trivially_copyable_v<F>);
    ::new (static_cast<void*>(storage)) F(f);
    run = [](loop_event& e) { (*std::launder(reinterpret_cast<F*>(e.storage)))(); };
  }
};
static_assert(sizeof(loop_event) == 64);

}  // namespace bench
