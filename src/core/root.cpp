#include <tartan/core/root.h>

#include <optional>

#include "core/fatal.h"
#include "core/group_state.h"
#include "core/guest.h"
#include "core/join_word.h"
#include "core/lifecycle.h"
#include "core/memory.h"
#include "core/root_registry.h"
#include "core/runtime_state.h"

namespace tartan::detail {

namespace {

using word = join_word<real_memory, chain>;
using counter_word = real_memory::atomic<std::uint32_t>;

word& word_in(std::byte* bytes) noexcept { return *std::launder(reinterpret_cast<word*>(bytes)); }
counter_word& count_in(std::byte* bytes) noexcept { return *std::launder(reinterpret_cast<counter_word*>(bytes)); }

}  // namespace

struct root::events {
  static void start(event& e) { static_cast<root&>(of(e)).start(); }
  static void report(event& e) { static_cast<root&>(of(e)).report(); }
  /// Refused, or left when the runtime ends: nobody else will ever tell of it.
  static void drop_report(event& e) noexcept { static_cast<root&>(of(e)).report(); }
  static constexpr event_ops start_ops{.run = &start, .drop = &drop_event, .pooled = false, .hinted = true, .counted = false};
  static constexpr event_ops report_ops{&report, &drop_report, origin::post, false, false};
};

root::root(runtime_state& rt, color where, std::source_location site, unsigned references, group_state* group) noexcept
    : chain{rt, where, site} {
  owner_ = group;
  static_assert(sizeof(word) == sizeof(join_) && sizeof(counter_word) == sizeof(count_));
  ::new (static_cast<void*>(join_)) word;
  ::new (static_cast<void*>(count_)) counter_word{references};
  rt.roots_changed(1);
}

root::~root() { runtime().roots_changed(-1); }

void root::keep() noexcept { count_in(count_).fetch_add(1, std::memory_order_relaxed); }

void root::let_go() noexcept {
  // acq_rel: what everybody did with it before, pairs with the other let_go()s
  if (count_in(count_).fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
}

bool root::launch() noexcept {
  keep();  // it may have ended before this returns
  const bool admitted = enlist();
  if (!admitted) {  // outside of the gate: what is destroyed here may post
    close();
    let_go();
  }
  let_go();
  return admitted;
}

/// Into the lists and on its way, or neither: once it is in the registry, who drains may destroy it.
bool root::enlist() noexcept {
  runtime_state& rt = runtime();
  std::optional<guests::posting> in_gate;
  if (rt.worker_here() == nullptr) {
    in_gate.emplace(rt.guests());
    if (rt.stopping()) return false;
  } else if (rt.stopping() && rt.life().over()) {
    return false;
  }
  if (group() != nullptr) group()->add(*this);
  rt.roots().add(*this);
  post_admitted(events::start_ops);
  return true;
}

void root::start() noexcept {
  std::coroutine_handle<> coroutine;
  try {
    coroutine = open();
  } catch (...) {
    fail(std::current_exception());
    finish();
    return;
  }
  run(coroutine);
}

void root::finish() noexcept {
  close();
  runtime().roots().remove(*this);
  if (group() != nullptr) {
    group()->ended(*this);
  } else {
    const auto [what, joiner] = word_in(join_).end();
    if (what == end_met::nobody) return report();
    if (what == end_met::a_joiner) joiner->complete();
  }
  let_go();
}

bool root::join(chain& joiner) noexcept {
  // Nothing would keep the joiner's runtime until the end that is told to it.
  if (&joiner.runtime() != &runtime()) {
    fatal({"a coroutine of another runtime was joined, in ", color_text(joiner.where(), joiner.runtime().name_of(joiner.where())),
           ", by one that was spawned at ", place(joiner.site()), "; it was spawned at ", place(site())});
  }
  switch (word_in(join_).join(joiner)) {
    case word::join_result::waits: return false;
    case word::join_result::has_ended: return true;
    case word::join_result::twice: break;
  }
  fatal({"a coroutine was joined twice; it was spawned at ", place(site())});
}

void root::detach() noexcept {
  if (word_in(join_).drop() && failed()) {
    post(events::report_ops);  // in its color; the reference goes along
  } else {
    let_go();
  }
}

/// Tells of an exception that nobody will ask for, in the color, or at the runtime's end. Releases a reference.
void root::report() noexcept {
  if (std::exception_ptr left = take_exception()) {
    try {
      std::rethrow_exception(std::move(left));
    } catch (...) {
      runtime().escaped(where(), site());
    }
  }
  let_go();
}

void root::drop() noexcept {
  close();
  if (group() != nullptr) group()->take_back(*this);
  let_go();
}

}  // namespace tartan::detail
