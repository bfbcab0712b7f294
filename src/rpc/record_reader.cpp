// A fragment stays in the input until all of it is there: a look at an unfinished one costs nothing, however often a slow sender
// causes it. Then its slices move on; the usual record, of one fragment, is taken out of the input as it is.
#include "rpc/record_reader.h"

#include <tartan/rpc/error.h>

#include <algorithm>
#include <array>
#include <utility>

namespace tartan::rpc {

namespace {

constexpr std::size_t mark_bytes = 4;
constexpr std::uint32_t last_bit = 0x80000000;
/// A shorter rest of a block is not read to.
constexpr std::size_t least_room_bytes = 512;

void write_word(buf::chain& into, std::uint32_t word) {
  const std::array<std::byte, mark_bytes> bytes{static_cast<std::byte>(word >> 24), static_cast<std::byte>(word >> 16),
                                                static_cast<std::byte>(word >> 8), static_cast<std::byte>(word)};
  into.append(std::span<const std::byte>{bytes});
}

}  // namespace

std::span<std::byte> record_reader::room() {
  const std::span<std::byte> given = input_.prepare(room_bytes_ < least_room_bytes ? block_bytes_ : 1);
  room_bytes_ = given.size();
  return given;
}

void record_reader::add(std::size_t bytes) {
  input_.commit(bytes);
  if (bytes == room_bytes_ && bytes >= block_bytes_ / 2) {
    block_bytes_ = std::min(4 * block_bytes_, largest_block_bytes);
  } else if (bytes < block_bytes_ / 16) {
    block_bytes_ = std::max(block_bytes_ / 4, first_block_bytes);
  }
  room_bytes_ -= bytes;
}

void record_reader::release_room() noexcept {
  if (!input_.empty()) return;  // slices keep the block: each byte of a slow sender would get one of its own
  input_.release_room();
  room_bytes_ = 0;
}

result<std::optional<buf::chain>> record_reader::next() {
  while (!error_) {
    if (!is_in_fragment_) {
      if (input_.size() < mark_bytes) return std::nullopt;
      begin_fragment();
      continue;
    }
    if (input_.size() < fragment_bytes_) return std::nullopt;
    if (is_last_) return end_record();
    record_.append(input_.take(fragment_bytes_));
    is_in_fragment_ = false;
  }
  return error_;
}

void record_reader::begin_fragment() {
  std::array<std::byte, mark_bytes> bytes{};
  input_.copy_to(std::span<std::byte>{bytes});
  input_.drop(mark_bytes);
  std::uint32_t mark = 0;
  for (const std::byte each : bytes) mark = mark << 8 | std::to_integer<std::uint32_t>(each);
  fragment_bytes_ = mark & ~last_bit;
  is_last_ = (mark & last_bit) != 0;
  is_in_fragment_ = true;
  if (mark == 0 && record_.empty()) ++leading_;
  if (fragment_bytes_ > most_ - record_.size()) {
    error_ = errc::too_large;
  } else if (++fragments_ > most_fragments || leading_ > most_leading_) {
    error_ = errc::malformed;
  }
}

buf::chain record_reader::end_record() {
  buf::chain whole = input_.take(fragment_bytes_);
  if (!record_.empty()) {
    record_.append(std::move(whole));
    whole = std::exchange(record_, {});
  }
  descriptors_ = std::exchange(leading_, 0);
  fragments_ = 0;
  is_in_fragment_ = false;
  return whole;
}

void write_mark(buf::chain& into, std::size_t bytes) {
  write_word(into, last_bit | static_cast<std::uint32_t>(bytes));
}

void write_descriptor_mark(buf::chain& into) {
  write_word(into, 0);
}

}  // namespace tartan::rpc
