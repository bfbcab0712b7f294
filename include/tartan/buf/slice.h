#pragma once
/// Bytes that do not change and that several owners share.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <tartan/buf/bytes.h>
#include <utility>
#include <vector>

namespace tartan::buf {

namespace detail {

/// What keeps bytes in memory, and how many slices and chains refer to it.
struct block {
  explicit block(void (*end)(block&) noexcept) noexcept;

  void (*const end)(block&) noexcept;  ///< destroys it
  alignas(8) std::byte uses[8];        ///< an atomic
};

void retain(block& b) noexcept;
void release(block& b) noexcept;
[[nodiscard]] std::uint64_t uses_of(const block& b) noexcept;
/// Whether the caller's use is the only one; what others did with the bytes has happened before then.
[[nodiscard]] bool is_only_use(const block& b) noexcept;

[[noreturn]] void beyond_slice(std::size_t from, std::size_t size) noexcept;

/// A block that is some object.
template <class Owner>
struct owner_block : block {
  template <class From>
  explicit owner_block(From&& from) : block{&destroy}, owner(std::forward<From>(from)) {}
  static void destroy(block& b) noexcept { delete static_cast<owner_block*>(&b); }

  Owner owner;
};

}  // namespace detail

class chain;

/// A piece of bytes that never change: a pointer, a length, and a share in what keeps them.
///
/// Threads: as a std::shared_ptr: slices of the same bytes in any threads and colors; one slice object in one at a time.
/// Lifetime: the bytes live as long as a slice of them does.
/// Cost: 24 bytes; a copy or a piece of it is one atomic increment, none for static text; the last of all slices frees without one.
class slice {
 public:
  /// No bytes.
  slice() noexcept = default;

  /// Takes the bytes over, without a copy (a std::string short enough to have no memory of its own is copied, all 15 bytes of it).
  ///
  /// Errors: std::bad_alloc; then `owned` is as it was.
  explicit slice(std::string&& owned) : slice{adopt_t{}, std::move(owned)} {}
  explicit slice(std::vector<std::byte>&& owned) : slice{adopt_t{}, std::move(owned)} {}

  /// Bytes that are there until the program ends, as those of a literal. They are not counted.
  [[nodiscard]] static slice of_static(std::string_view text) noexcept { return slice{nullptr, as_bytes(text), text.size()}; }

  /// Errors: std::bad_alloc.
  [[nodiscard]] static slice copy_of(const_bytes bytes);

  /// Bytes that `keeper` keeps: a std::shared_ptr, a mapped file. It is destroyed with the last slice, wherever that is.
  ///
  /// Errors: std::bad_alloc, and what Keeper's constructor throws.
  template <class Keeper>
  [[nodiscard]] static slice kept_by(Keeper keeper, std::span<const std::byte> bytes) {
    return slice{new detail::owner_block<Keeper>(std::move(keeper)), bytes.data(), bytes.size()};
  }

  slice(const slice& other) noexcept : block_{other.block_}, data_{other.data_}, size_{other.size_} {
    if (block_ != nullptr) detail::retain(*block_);
  }
  slice(slice&& other) noexcept
      : block_{std::exchange(other.block_, nullptr)}, data_{std::exchange(other.data_, nullptr)}, size_{std::exchange(other.size_, 0)} {}
  slice& operator=(slice other) noexcept {
    std::swap(block_, other.block_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~slice() {
    if (block_ != nullptr) detail::release(*block_);
  }

  [[nodiscard]] const std::byte* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return {data_, size_}; }
  [[nodiscard]] std::string_view text() const noexcept { return {reinterpret_cast<const char*>(data_), size_}; }

  /// A piece: from `from` on, `most` bytes or up to the end. Shares.
  ///
  /// Errors: ends the program if `from` lies behind the end.
  [[nodiscard]] slice sub(std::size_t from, std::size_t most = std::string_view::npos) const noexcept {
    slice piece{*this};
    piece.skip(from);
    if (most < piece.size_) piece.size_ = most;
    return piece;
  }

  /// Slices and chains that share what keeps the bytes; 0 for static text and for an empty slice of nothing. May be outdated at once.
  ///
  /// Threads: any.
  [[nodiscard]] std::uint64_t uses() const noexcept { return block_ == nullptr ? 0 : detail::uses_of(*block_); }

 private:
  friend class chain;
  struct adopt_t {};

  template <class Owner>
  slice(adopt_t /*tag*/, Owner&& owned) {
    auto* const made = new detail::owner_block<Owner>(std::move(owned));
    block_ = made;
    data_ = reinterpret_cast<const std::byte*>(made->owner.data());
    size_ = made->owner.size();
  }
  /// Takes over a use of the block.
  slice(detail::block* b, const std::byte* data, std::size_t size) noexcept : block_{b}, data_{data}, size_{size} {}

  static const std::byte* as_bytes(std::string_view text) noexcept { return reinterpret_cast<const std::byte*>(text.data()); }
  void skip(std::size_t bytes) noexcept {
    if (bytes > size_) detail::beyond_slice(bytes, size_);
    data_ += bytes;
    size_ -= bytes;
  }
  [[nodiscard]] bool goes_on_with(const slice& next) const noexcept {
    return block_ != nullptr && block_ == next.block_ && data_ + size_ == next.data_;
  }

  detail::block* block_ = nullptr;
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

[[nodiscard]] inline bool operator==(const slice& a, std::string_view b) noexcept { return a.text() == b; }

}  // namespace tartan::buf
