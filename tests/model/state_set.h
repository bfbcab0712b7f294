// The states that an exploration has reached, as 64-bit digests: two of ten million states meet by chance with
// probability 3e-6.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tartan::model {

/// A set of digests, open addressing, at most half full.
class state_set {
 public:
  /// True if the digest is new.
  bool insert(std::uint64_t digest) {
    if (size_ * 2 >= slots_.size()) {
      grow();
    }
    const bool is_new = place(digest == 0 ? 1 : digest);
    size_ += is_new ? 1 : 0;
    return is_new;
  }

  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  bool place(std::uint64_t digest) {
    const std::size_t mask = slots_.size() - 1;
    std::size_t slot = static_cast<std::size_t>(digest ^ (digest >> 33)) & mask;
    while (slots_[slot] != 0) {
      if (slots_[slot] == digest) {
        return false;
      }
      slot = (slot + 1) & mask;
    }
    slots_[slot] = digest;
    return true;
  }

  void grow() {
    std::vector<std::uint64_t> old(slots_.empty() ? 1024 : slots_.size() * 2);
    old.swap(slots_);
    for (const std::uint64_t digest : old) {
      if (digest != 0) {
        place(digest);
      }
    }
  }

  std::vector<std::uint64_t> slots_;
  std::size_t size_ = 0;
};

}  // namespace tartan::model
