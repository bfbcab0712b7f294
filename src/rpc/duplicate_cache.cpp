// A hash table with chains, and a list of the answered calls in the order of their last use, which is also that of their expiry.
// Under the lock no memory is taken or given back: an entry is made before, and what is dropped is destroyed behind it.
#include <tartan/rpc/duplicate_cache.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <mutex>
#include <random>
#include <string_view>
#include <tartan/core/color.h>
#include <utility>
#include <vector>

#include "core/spin_lock.h"

namespace tartan::rpc {

namespace {

using tartan::detail::mix;

constexpr std::size_t checked_bytes = 256;
/// Shorter parts of a reply are copied, so that they do not keep a connection's blocks.
constexpr std::size_t least_shared_bytes = 4096;
/// Expired entries that one call drops: more than it adds, so that they do not pile up.
constexpr int most_expired = 4;

using shared_reply = std::shared_ptr<const buf::chain>;

shared_reply kept(const buf::chain& reply) {
  buf::chain made;
  for (const buf::slice& each : reply.slices()) {
    if (each.size() < least_shared_bytes) {
      made.append(each.bytes());
    } else {
      made.append(each);
    }
  }
  return std::make_shared<const buf::chain>(std::move(made));
}

struct entry {
  duplicate_cache::key of;
  shared_reply reply{};  ///< none while the call is in progress
  duplicate_cache::time_point used{};
  entry* next = nullptr;   ///< of its bucket, or of those that were dropped
  entry* newer = nullptr;  ///< of the answered ones
  entry* older = nullptr;
};

/// Entries that are to be destroyed.
struct dropped_entries {
  dropped_entries() = default;
  dropped_entries(const dropped_entries&) = delete;
  dropped_entries& operator=(const dropped_entries&) = delete;
  ~dropped_entries() {
    while (first != nullptr) delete std::exchange(first, first->next);
  }
  void add(entry* one) noexcept {
    one->next = first;
    first = one;
  }

  entry* first = nullptr;
};

}  // namespace

class duplicate_cache::state {
 public:
  explicit state(const settings& with)
      : with_{with}, buckets_(std::bit_ceil(std::max<std::size_t>(with.entries, 1))), seed_{std::random_device{}()} {}
  state(const state&) = delete;
  state& operator=(const state&) = delete;
  ~state() {
    dropped_entries all;
    for (entry* each : buckets_) {
      while (each != nullptr) all.add(std::exchange(each, each->next));
    }
  }

  verdict begin(std::unique_ptr<entry> made, time_point now, shared_reply& reply) noexcept {
    dropped_entries dropped;
    shared_reply expired;
    const std::scoped_lock lock{lock_};
    drop_expired(now, dropped);
    if (entry* const there = *place_of(made->of)) {
      if (there->reply == nullptr) return verdict::in_progress;
      unlink(*there);
      if (has_expired(*there, now)) {
        expired = std::move(there->reply);
        return verdict::fresh;
      }
      link(*there, now);
      reply = there->reply;
      return verdict::done;
    }
    if (entries_ >= with_.entries) {
      if (oldest_ == nullptr) return verdict::fresh;
      drop(*oldest_, dropped);
    }
    ++entries_;
    entry** const place = place_of(made->of);
    *place = made.release();
    return verdict::fresh;
  }

  void end(const key& of, shared_reply reply, time_point now) noexcept {
    dropped_entries dropped;
    const std::scoped_lock lock{lock_};
    entry* const there = *place_of(of);
    if (there == nullptr || there->reply != nullptr) return;
    if (reply->size() > with_.bytes) return take_out(*there, dropped);
    while (bytes_ + reply->size() > with_.bytes) drop(*oldest_, dropped);
    there->reply = std::move(reply);
    link(*there, now);
  }

  void forget(const key& of) noexcept {
    dropped_entries dropped;
    const std::scoped_lock lock{lock_};
    entry* const there = *place_of(of);
    if (there != nullptr && there->reply == nullptr) take_out(*there, dropped);
  }

  std::pair<std::size_t, std::size_t> size() noexcept {
    const std::scoped_lock lock{lock_};
    return {entries_, bytes_};
  }

 private:
  std::size_t bucket_of(const key& of) const noexcept {
    const std::string_view peer{reinterpret_cast<const char*>(of.peer.data()), of.peer.size()};
    std::uint64_t hash = mix(seed_ ^ of.xid ^ std::uint64_t{of.procedure} << 32);
    hash = mix(hash ^ of.program ^ std::uint64_t{of.version} << 32);
    hash = mix(mix(hash ^ of.checksum) ^ of.connection);
    return mix(hash ^ std::hash<std::string_view>{}(peer)) & (buckets_.size() - 1);
  }
  /// Where an entry is referred to in its bucket, or where it would be.
  entry** place_of(const key& of) noexcept {
    entry** place = &buckets_[bucket_of(of)];
    while (*place != nullptr && (*place)->of != of) place = &(*place)->next;
    return place;
  }

  bool has_expired(const entry& one, time_point now) const noexcept { return now - one.used >= with_.keep; }
  void drop_expired(time_point now, dropped_entries& to) noexcept {
    for (int n = 0; n < most_expired && oldest_ != nullptr && has_expired(*oldest_, now); ++n) drop(*oldest_, to);
  }
  /// One that is answered.
  void drop(entry& one, dropped_entries& to) noexcept {
    unlink(one);
    take_out(one, to);
  }
  void take_out(entry& one, dropped_entries& to) noexcept {
    entry** const place = place_of(one.of);
    *place = one.next;
    --entries_;
    to.add(&one);
  }

  void link(entry& one, time_point now) noexcept {
    bytes_ += one.reply->size();
    one.used = now;
    one.older = newest_;
    one.newer = nullptr;
    (newest_ != nullptr ? newest_->newer : oldest_) = &one;
    newest_ = &one;
  }
  void unlink(entry& one) noexcept {
    bytes_ -= one.reply->size();
    (one.newer != nullptr ? one.newer->older : newest_) = one.older;
    (one.older != nullptr ? one.older->newer : oldest_) = one.newer;
  }

  tartan::detail::spin_lock lock_;
  const settings with_;
  std::vector<entry*> buckets_;  ///< a power of two
  const std::uint64_t seed_;     ///< so that no client can choose calls that meet in one bucket
  entry* newest_ = nullptr;      ///< of the answered ones
  entry* oldest_ = nullptr;
  std::size_t entries_ = 0;
  std::size_t bytes_ = 0;
};

duplicate_cache::duplicate_cache() : duplicate_cache{settings{}} {}
duplicate_cache::duplicate_cache(const settings& with) : state_{std::make_unique<state>(with)} {}
duplicate_cache::~duplicate_cache() = default;

std::uint64_t duplicate_cache::checksum_of(std::span<const buf::slice> arguments) noexcept {
  std::array<std::byte, checked_bytes> first{};
  std::size_t all = 0;
  for (const buf::slice& each : arguments) {
    const std::size_t now = std::min(each.size(), first.size() - std::min(all, first.size()));
    if (now != 0) std::memcpy(first.data() + all, each.data(), now);
    all += each.size();
  }
  std::uint64_t sum = mix(all);
  for (std::size_t n = 0; n < std::min(all, first.size()); n += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, first.data() + n, 8);
    sum = mix(sum ^ word);
  }
  return sum;
}

duplicate_cache::verdict duplicate_cache::begin(const key& of, time_point now, buf::chain& reply) {
  shared_reply found;
  const verdict what = state_->begin(std::make_unique<entry>(entry{of}), now, found);
  if (found != nullptr) {
    for (const buf::slice& each : found->slices()) reply.append(each);
  }
  return what;
}

void duplicate_cache::end(const key& of, const buf::chain& reply, time_point now) {
  state_->end(of, kept(reply), now);
}

void duplicate_cache::forget(const key& of) noexcept {
  state_->forget(of);
}

std::size_t duplicate_cache::entries() const noexcept {
  return state_->size().first;
}

std::size_t duplicate_cache::bytes() const noexcept {
  return state_->size().second;
}

}  // namespace tartan::rpc
