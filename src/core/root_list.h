#pragma once
/// Spawned coroutines that may be asked to cancel together.

#include <mutex>
#include <tartan/core/root.h>
#include <utility>

#include "core/spin_lock.h"

namespace tartan::detail {

/// Two lists, of those that were asked to cancel and of those that were not, so that asking each one needs the lock only briefly.
///
/// Threads: any.
class root_list {
 public:
  explicit root_list(membership which) noexcept : which_{static_cast<std::size_t>(which)} {}

  /// Gives whether the newcomer is to be canceled, because all were.
  [[nodiscard]] bool add(root& r) noexcept {
    const std::lock_guard hold{lock_};
    link(r, canceled_);
    ++size_;
    return canceled_;
  }

  /// What `last` does is done under the lock, with the number of roots that are left; gives what it gives.
  template <class F>
  auto remove(root& r, F last) noexcept {
    const std::lock_guard hold{lock_};
    unlink(r);
    --size_;
    return last(size_);
  }

  /// Asks all to cancel, also those that come later.
  void cancel_all() noexcept {
    while (root* const r = next_to_ask()) {
      r->cancel();
      r->let_go();
    }
  }

  /// Any root, taken out; null: there is none.
  [[nodiscard]] root* take() noexcept {
    const std::lock_guard hold{lock_};
    root* const r = fresh_ != nullptr ? fresh_ : asked_;
    if (r != nullptr) {
      unlink(*r);
      --size_;
    }
    return r;
  }

  /// Calls f with every root, under the lock. Threads: any, while no worker runs.
  template <class F>
  void for_each(F f) {
    const std::lock_guard hold{lock_};
    for (root* const first : {fresh_, asked_}) {
      for (root* r = first; r != nullptr; r = links_of(*r).next) f(*r);
    }
  }

  /// Calls f under the lock.
  template <class F>
  auto with_size(F f) noexcept {
    const std::lock_guard hold{lock_};
    return f(size_);
  }

 private:
  root* next_to_ask() noexcept {
    const std::lock_guard hold{lock_};
    canceled_ = true;
    root* const r = fresh_;
    if (r == nullptr) return nullptr;
    unlink(*r);
    link(*r, true);
    r->keep();
    return r;
  }

  root::links& links_of(root& r) const noexcept { return r.links_[which_]; }

  void link(root& r, bool asked) noexcept {
    root*& first = asked ? asked_ : fresh_;
    r.asked_[which_] = asked;
    links_of(r) = {nullptr, first};
    if (first != nullptr) links_of(*first).previous = &r;
    first = &r;
  }
  void unlink(root& r) noexcept {
    const root::links own = std::exchange(links_of(r), {});
    (own.previous != nullptr ? links_of(*own.previous).next : r.asked_[which_] ? asked_ : fresh_) = own.next;
    if (own.next != nullptr) links_of(*own.next).previous = own.previous;
  }

  spin_lock lock_;
  std::size_t which_;
  root* fresh_ = nullptr;   ///< under lock_, as is all below
  root* asked_ = nullptr;
  std::size_t size_ = 0;
  bool canceled_ = false;
};

}  // namespace tartan::detail
