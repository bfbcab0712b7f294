// A runtime that ends has to destroy the coroutines that are still suspended, and one that stops has to ask them all; nothing
// else knows them, for a suspended coroutine costs no event and may wait in an object that nobody will touch again.

#include "core/root_registry.h"

#include <algorithm>

#include "core/runtime_state.h"

namespace tartan::detail {

root_registry::shard::shard() noexcept : roots{membership::of_runtime} {}

root_registry::root_registry(runtime_state& rt)
    : rt_{rt}, shards_{std::min(rt.workers() + 1, most_shards)}, shard_{std::make_unique<shard[]>(shards_)} {}

void root_registry::add(root& r) noexcept {
  r.shard_ = static_cast<std::uint8_t>(rt_.this_worker() % shards_);
  if (shard_[r.shard_].roots.add(r)) r.cancel();
}

void root_registry::remove(root& r) noexcept {
  shard_[r.shard_].roots.remove(r, [](std::size_t) {});
}

void root_registry::cancel_all() noexcept {
  for (unsigned n = 0; n < shards_; ++n) shard_[n].roots.cancel_all();
}

std::size_t root_registry::drop_all() noexcept {
  dropping_ = true;
  std::size_t dropped = 0;
  for (bool again = true; again;) {  // a destructor may spawn, in vain
    again = false;
    for (unsigned n = 0; n < shards_; ++n) {
      while (root* const r = shard_[n].roots.take()) {
        again = true;
        ++dropped;
        r->drop();
      }
    }
  }
  return dropped;
}

std::size_t root_registry::size() noexcept {
  std::size_t sum = 0;
  for (unsigned n = 0; n < shards_; ++n) sum += shard_[n].roots.with_size([](std::size_t size) { return size; });
  return sum;
}

}  // namespace tartan::detail
