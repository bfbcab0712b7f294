#pragma once
/// Bytes that were received and not yet used.

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>

namespace web {

/// Grows as long as nothing is taken from it, and is small again when all was: it has `first` bytes, or `usual` ones if more were once needed.
class read_buffer {
 public:
  static constexpr std::size_t first = 1024;  ///< most heads fit
  static constexpr std::size_t usual = 4096;

  [[nodiscard]] bool empty() const noexcept { return begin_ == end_; }
  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }
  [[nodiscard]] std::size_t size() const noexcept { return end_ - begin_; }
  [[nodiscard]] std::string_view text() const noexcept { return {reinterpret_cast<const char*>(bytes_.get()) + begin_, size()}; }

  /// Where to read into; text() given before is no longer valid.
  [[nodiscard]] std::span<std::byte> room() {
    if (empty()) {
      const bool was_too_small = capacity_ < usual && end_ == capacity_;
      if (was_too_small || capacity_ > usual) capacity_ = 0;  // whoever reads now may wait for long
      begin_ = end_ = 0;
    }
    if (capacity_ - end_ < std::clamp(capacity_ / 8, first / 8, usual / 8)) make_room();
    return {bytes_.get() + end_, capacity_ - end_};
  }
  /// Where to read into without moving what is here: text() given before stays valid. Empty if there is no room.
  [[nodiscard]] std::span<std::byte> room_behind() noexcept { return {bytes_.get() + end_, capacity_ - end_}; }
  void add(std::size_t received) noexcept { end_ += received; }
  void drop(std::size_t used) noexcept { begin_ += used; }

 private:
  void make_room() {
    const std::size_t wanted = bytes_ == nullptr ? first : capacity_ < usual ? usual : size() < capacity_ / 2 ? capacity_ : 2 * capacity_;
    if (empty()) bytes_.reset();
    auto bigger = std::make_unique_for_overwrite<std::byte[]>(wanted);
    if (!empty()) std::memcpy(bigger.get(), bytes_.get() + begin_, size());
    end_ = size();
    begin_ = 0;
    bytes_ = std::move(bigger);
    capacity_ = wanted;
  }

  std::unique_ptr<std::byte[]> bytes_;
  std::size_t capacity_ = 0;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

}  // namespace web
