#include "io/service.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <new>
#include <optional>
#include <string>
#include <tartan/core/runtime.h>
#include <utility>

#include "core/fatal.h"
#include "core/guest.h"
#include "core/lifecycle.h"
#include "core/runtime_state.h"
#include "core/strand_color.h"
#include "io/world.h"

namespace tartan::detail {

struct io_service::chunk {
  alignas(io_slot) std::byte room[slots_in_chunk * sizeof(io_slot)];
  [[nodiscard]] io_slot& at(std::uint32_t n) noexcept { return *std::launder(reinterpret_cast<io_slot*>(room + n * sizeof(io_slot))); }
};

void wrong_color(const io_slot& slot, color caller, std::source_location site) noexcept {
  runtime_state& rt = slot.service().runtime();
  const bool elsewhere = here != nullptr && here->in_event && here->owner != &rt;
  fatal({"an operation on a descriptor of ", color_text(slot.where(), rt.name_of(slot.where())), " was begun in ",
         elsewhere ? std::string{"another runtime"} : color_text(caller, rt.name_of(caller)), ", at ", place(site)});
}

void outside_of_events(std::source_location site) noexcept {
  fatal({"an operation on a descriptor was begun outside of any event, at ", place(site)});
}

namespace {

/// Its operations would run at the same time, or nowhere.
void refuse_color(const runtime_state& rt, color where) noexcept {
  const bool in_event = here != nullptr && here->in_event;
  refuse_foreign(rt, where, "a descriptor was opened", in_event ? here->site : std::source_location{});
  if (where != color::unordered) return;
  fatal({"a descriptor cannot be in color::unordered: its operations would race",
         in_event ? "; opened in an event that was posted at " + place(here->site) : std::string{}});
}

}  // namespace

void require_color(const io_slot& slot, std::source_location site) noexcept {
  const thread_context* const context = here_now();
  if (context == nullptr || context->owner != &slot.service().runtime()) {
    if (slot.service().runtime().life().running()) wrong_color(slot, color::unordered, site);
    return;
  }
  if (context->in_event && context->running != slot.where()) wrong_color(slot, context->running, site);
}

io_service& io_service::of(runtime_state& rt) {
  if (descriptors* const there = rt.open_descriptors()) return static_cast<io_service&>(*there);
  return make_world(rt);
}

result<io_service*> io_service::find(runtime_state& rt) noexcept {
  try {
    return &of(rt);
  } catch (const std::system_error& e) {
    return e.code();
  } catch (const std::bad_alloc&) {
    return std::make_error_code(std::errc::not_enough_memory);
  }
}

io_service::io_service(runtime_state& rt, io_system& system, std::unique_ptr<io_system> owned)
    : rt_{rt}, owned_{std::move(owned)}, system_{system}, chunks_{std::make_unique<real_memory::atomic<chunk*>[]>(most_chunks)} {}

io_service::~io_service() {
  expect_no_objects();
  for (unsigned c = 0; c < chunks_made_; ++c) {
    chunk* const each = chunks_[c].load(std::memory_order_acquire);  // pairs with add_chunk
    for (unsigned n = 0; n < slots_in_chunk; ++n) {
      io_slot& slot = each->at(n);
      slot.extra.reset();
      if (slot.descriptor() >= 0 && slot.was_blocking()) files_.leave(slot.descriptor());
      if (slot.descriptor() >= 0) system_.close(slot.descriptor());
      slot.~io_slot();
    }
    delete each;
  }
}

io_slot* io_service::slot_at(std::uint32_t index) const noexcept {
  chunk* const in = chunks_[index / slots_in_chunk].load(std::memory_order_acquire);  // pairs with add_chunk
  return &in->at(index % slots_in_chunk);
}

bool io_service::add_chunk() noexcept {
  if (chunks_made_ == most_chunks) return false;
  auto* const made = new (std::nothrow) chunk;
  if (made == nullptr) return false;
  for (unsigned n = slots_in_chunk; n-- > 0;) {
    auto* const slot = ::new (static_cast<void*>(made->room + n * sizeof(io_slot))) io_slot{*this, chunks_made_ * slots_in_chunk + n};
    slot->next_free = free_;
    free_ = slot;
  }
  chunks_[chunks_made_++].store(made, std::memory_order_release);  // pairs with slot_at
  return true;
}

io_slot* io_service::take_slot() noexcept {
  const std::lock_guard hold{lock_};
  if (free_ == nullptr && !add_chunk()) return nullptr;
  return std::exchange(free_, free_->next_free);
}

void io_service::recycle(io_slot& slot) noexcept {
  const std::lock_guard hold{lock_};
  slot.is_kept = slot.is_held;
  if (slot.is_kept) return;
  slot.next_free = free_;
  free_ = &slot;
}

void io_service::let_go(io_slot& slot) noexcept {
  const std::lock_guard hold{lock_};
  slot.is_held = false;
  if (!std::exchange(slot.is_kept, false)) return;
  slot.next_free = free_;
  free_ = &slot;
}

/// What still has a key would use it when it is destroyed: the slots go now.
void io_service::expect_no_objects() noexcept {
  for (unsigned n = 0; n < chunks_made_ * slots_in_chunk; ++n) {
    const io_slot& slot = *slot_at(n);
    if (!slot.is_held) continue;
    const bool is_open = slot.descriptor() >= 0;
    const std::string which = is_open ? "with descriptor " + std::to_string(slot.descriptor()) : "that the stop has closed";
    const bool in_event = slot.opened_in().line() != 0;
    fatal({"an object ", which, ", of ", color_text(slot.where(), rt_.name_of(slot.where())), ", opened ",
           in_event ? "in an event that was posted at " + place(slot.opened_in()) : std::string{"outside of events"},
           ", outlives its runtime, which was made at ", place(rt_.made_at())});
  }
}

result<slot_key> io_service::open(int descriptor, color where, std::optional<strand> own, std::unique_ptr<slot_extra> more,
                                  slot_manner how, watched from) noexcept {
  refuse_color(rt_, where);
  // all-told: who stops waits for those in the gate before it goes through the slots
  std::optional<guests::posting> in_gate;
  const bool outside = rt_.worker_here() == nullptr;
  if (outside) in_gate.emplace(rt_.guests());
  if ((outside && rt_.stopping()) || (how.then == at_end::closes && rt_.closing())) {
    return make_error_code(errc::canceled);
  }
  io_slot* const slot = take_slot();
  if (slot == nullptr) return std::make_error_code(std::errc::not_enough_memory);
  const slot_key key{slot, slot->generation(), where};
  slot->open(descriptor, where, std::move(own), std::move(more), how);
  if (const int error = from == watched::at_once ? slot->watch() : 0; error < 0) {
    slot->is_held = false;
    static_cast<void>(slot->shut());
    return system_error(error);
  }
  return key;
}

int io_service::release(io_slot& slot) noexcept {
  if (slot.is_watched()) system_.forget(slot.descriptor());
  if (slot.was_blocking()) files_.leave(slot.descriptor());
  if (slot.extra) slot.extra->released();
  slot.is_held = false;
  return slot.shut();
}

void io_service::close(io_slot& slot) noexcept {
  slot.is_held = false;
  shut_down(slot);
}

void io_service::shut_down(io_slot& slot) noexcept {
  const bool is_watched = slot.is_watched();
  const bool was_blocking = slot.was_blocking();
  const int descriptor = slot.shut();
  if (descriptor < 0) return;
  if (was_blocking) files_.leave(descriptor);
  if (is_watched) {
    system_.close(descriptor);
  } else {
    system_.close_unwatched(descriptor);
  }
  if (any_starved_.load(std::memory_order_relaxed)) retry_starved();
}

void io_service::retry_after_close(slot_key key) noexcept {
  const std::lock_guard hold{lock_};
  try {
    const auto is_it = [&](const slot_key& each) { return each.slot == key.slot && each.generation == key.generation; };
    if (std::none_of(starved_.begin(), starved_.end(), is_it)) starved_.push_back(key);
    any_starved_.store(true, std::memory_order_relaxed);
  } catch (const std::bad_alloc&) {  // its timer is left
  }
}

void io_service::retry_starved() noexcept {
  std::vector<slot_key> all;
  {
    const std::lock_guard hold{lock_};
    all.swap(starved_);
    any_starved_.store(false, std::memory_order_relaxed);
  }
  for (const slot_key& key : all) static_cast<void>(key.slot->ready(key.generation, readiness<real_memory>::in));
}

/// The event that closes, in the slot's color, what its object has left. Destroyed unrun, it only tells that there is
/// no object any more.
class io_service::closing {
 public:
  closing(io_service& of, const slot_key& key) noexcept : of_{&of}, slot_{key.slot}, generation_{key.generation} {}
  closing(closing&& other) noexcept
      : of_{other.of_}, slot_{std::exchange(other.slot_, nullptr)}, generation_{other.generation_} {}
  closing& operator=(closing&&) = delete;
  ~closing() {
    if (slot_ != nullptr) of_->let_go(*slot_);
  }
  void operator()() noexcept {
    if (slot_->is_open(generation_)) of_->close(*std::exchange(slot_, nullptr));
  }

 private:
  io_service* of_;
  io_slot* slot_;
  std::uint32_t generation_;
};

void io_service::abandon(slot_key key) noexcept {
  if (key.slot == nullptr) return;
  io_slot& slot = *key.slot;
  if (!slot.is_open(key.generation)) return let_go(slot);  // the stop has closed it
  const thread_context* const context = here_now();
  const bool in_its_color = context != nullptr && context->in_event && context->owner == &rt_ && context->running == key.where;
  if (in_its_color || rt_.life().over()) return close(slot);
  event* e = nullptr;
  try {
    e = make_event(rt_, closing{*this, key}, std::source_location::current());
  } catch (const std::bad_alloc&) {
    fatal({"out of memory for closing a descriptor"});
  }
  if (!submit_completion(rt_, key.where, *e)) close(slot);
}

bool io_service::ready(std::uint64_t mark, std::uint32_t bits) noexcept {
  return slot_at(static_cast<std::uint32_t>(mark))->ready(static_cast<std::uint32_t>(mark >> 32), bits);
}

void io_service::stop() noexcept {
  for (unsigned n = 0; n < chunks_made_ * slots_in_chunk; ++n) slot_at(n)->tell_stop();
}

void io_service::shut_doors() noexcept {
  for (unsigned n = 0; n < chunks_made_ * slots_in_chunk; ++n) slot_at(n)->tell_shutdown();
}

std::size_t io_service::drop_all() noexcept {
  std::size_t dropped = 0;
  for (unsigned n = 0; n < chunks_made_ * slots_in_chunk; ++n) dropped += slot_at(n)->drop_all();
  return dropped;
}

}  // namespace tartan::detail
