// A queue of bytes that are mostly not ours to copy: a header is printed, a page from a cache goes behind it by reference, the next
// header is printed behind that. What is copied lies in blocks of the chain's own. A block is one allocation with a count in front,
// so that a piece of it can be taken out as a slice and outlive the chain, while the chain goes on filling the rest: bytes that
// a slice shows are never written again. When the chain is empty and nobody else uses the block, it is filled from its beginning:
// a connection that answers request after request allocates nothing.
#include <tartan/buf/chain.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <limits>

#include "buf/storage.h"
#include "core/fatal.h"

namespace tartan::buf {

namespace {

constexpr std::size_t least_parts = 8;

[[noreturn]] void misuse(std::string_view what, std::size_t bytes, std::size_t limit, std::source_location site) noexcept {
  tartan::detail::fatal({what, " ", std::to_string(bytes), " bytes where there are ", std::to_string(limit), ", at ", tartan::detail::place(site)});
}

}  // namespace

chain::~chain() {
  if (block_ != nullptr) detail::release(*block_);
  while (marks_ != nullptr) marks_ = std::move(marks_->next);  // not one inside the other
}

void chain::swap(chain& other) noexcept {
  std::swap(parts_, other.parts_);
  std::swap(first_, other.first_);
  std::swap(size_, other.size_);
  std::swap(searched_, other.searched_);
  std::swap(left_, other.left_);
  std::swap(block_, other.block_);
  std::swap(room_, other.room_);
  std::swap(room_end_, other.room_end_);
  std::swap(marks_, other.marks_);
  std::swap(last_mark_, other.last_mark_);
}

// --- filling ----------------------------------------------------------------------------------------------------------

/// Sees to it that `more` parts can be pushed without an allocation.
void chain::need_parts(std::size_t more) {
  if (parts_.capacity() - parts_.size() >= more) return;
  const std::size_t live = parts_.size() - first_;
  if (first_ > live) {  // moving them is paid for by those that have left
    parts_.erase(parts_.begin(), parts_.begin() + static_cast<std::ptrdiff_t>(first_));
    first_ = 0;
    if (parts_.capacity() - parts_.size() >= more) return;
  }
  parts_.reserve(std::max({least_parts, 2 * parts_.capacity(), parts_.size() + more}));
}

void chain::push(slice&& piece) noexcept {
  size_ += piece.size();
  if (first_ != parts_.size() && parts_.back().goes_on_with(piece)) {
    parts_.back().size_ += piece.size();
  } else {
    parts_.push_back(std::move(piece));  // need_parts has been there
  }
}

/// What was written into the room becomes part of the chain.
void chain::grow(std::size_t bytes) noexcept {
  if (bytes == 0) return;
  detail::retain(*block_);
  push(slice{block_, room_, bytes});
  room_ += bytes;
}

void chain::use_room_again() noexcept {
  if (size_ == 0 && block_ != nullptr && room_ != block_->begin() && detail::is_only_use(*block_)) room_ = block_->begin();
}

detail::storage* chain::new_block(std::size_t least) const {
  const std::size_t usual = std::clamp(size_, first_block_bytes, largest_block_bytes);
  return detail::storage::make(std::max(usual - sizeof(detail::storage), least));
}

void chain::set_block(detail::storage* fresh) noexcept {
  if (block_ != nullptr) detail::release(*block_);
  block_ = fresh;
  room_ = fresh->begin();
  room_end_ = fresh->end_of_it();
}

void chain::append(const_bytes bytes) {
  if (bytes.empty()) return;
  need_parts(2);
  use_room_again();
  const std::size_t here = std::min(room(), bytes.size());
  detail::storage* const fresh = here == bytes.size() ? nullptr : new_block(bytes.size() - here);  // nothing throws behind this
  if (here != 0) std::memcpy(room_, bytes.data(), here);
  grow(here);
  if (fresh == nullptr) return;
  set_block(fresh);
  std::memcpy(room_, bytes.data() + here, bytes.size() - here);
  grow(bytes.size() - here);
}

void chain::append(slice piece) {
  if (piece.empty()) return;
  need_parts(1);
  push(std::move(piece));
}

void chain::append(chain&& all) {
  if (&all == this) tartan::detail::fatal({"a chain was appended to itself"});
  need_parts(all.slices().size());
  const std::uint64_t end = left_ + size_;
  for (detail::mark* one = all.marks_.get(); one != nullptr; one = one->next.get()) one->at += end - all.left_;
  if (all.marks_ != nullptr) {
    (last_mark_ != nullptr ? last_mark_->next : marks_) = std::move(all.marks_);
    last_mark_ = std::exchange(all.last_mark_, nullptr);
  }
  for (std::size_t n = all.first_; n < all.parts_.size(); ++n) push(std::move(all.parts_[n]));
  all.skip(all.size_);
}

void chain::put_number(std::uint64_t number, int base) {
  char digits[std::numeric_limits<std::uint64_t>::digits10 + 1];
  const char* const end = std::to_chars(std::begin(digits), std::end(digits), number, base).ptr;
  append(std::string_view{digits, static_cast<std::size_t>(end - digits)});
}

void chain::put_signed(std::int64_t number) {
  char digits[std::numeric_limits<std::int64_t>::digits10 + 2];
  const char* const end = std::to_chars(std::begin(digits), std::end(digits), number).ptr;
  append(std::string_view{digits, static_cast<std::size_t>(end - digits)});
}

std::span<std::byte> chain::prepare(std::size_t least) {
  need_parts(1);  // so that commit cannot fail
  use_room_again();
  if (block_ == nullptr || room() < least) {
    if (block_ != nullptr && block_->capacity >= least && detail::is_only_use(*block_)) {
      room_ = block_->begin();  // all of it has left, though the chain holds other bytes
    } else {
      set_block(new_block(least));
    }
  }
  return {room_, room()};
}

void chain::commit(std::size_t bytes, std::source_location site) {
  if (bytes > room()) misuse("a chain was to commit", bytes, room(), site);
  grow(bytes);
}

void chain::release_room() noexcept {
  if (block_ == nullptr) return;
  detail::release(*block_);
  block_ = nullptr;
  room_ = room_end_ = nullptr;
}

// --- using up ---------------------------------------------------------------------------------------------------------

void chain::skip(std::size_t bytes) noexcept {
  size_ -= bytes;
  left_ += bytes;
  searched_ -= std::min(searched_, bytes);
  while (first_ != parts_.size()) {
    slice& front = parts_[first_];
    if (front.size() > bytes) {
      front.skip(bytes);
      return;
    }
    bytes -= front.size();
    front = slice{};
    ++first_;
  }
  parts_.clear();
  first_ = 0;
}

void chain::drop(std::size_t bytes, std::source_location site) {
  if (bytes > size_) misuse("a chain was to drop", bytes, size_, site);
  if (bytes != 0) skip(bytes);
  if (marks_ != nullptr) call_marks();
}

chain chain::take(std::size_t bytes, std::source_location site) {
  if (bytes > size_) misuse("from a chain was to be taken", bytes, size_, site);
  chain taken;
  if (bytes == 0) return taken;
  const position end = place_of(bytes);
  taken.need_parts(end.part - first_ + 1);
  for (std::size_t n = first_; n < end.part; ++n) taken.push(std::move(parts_[n]));  // an empty slice stays, which skip passes
  if (end.offset != 0) taken.push(parts_[end.part].sub(0, end.offset));
  const std::size_t moved = bytes - end.offset;
  first_ = end.part;
  size_ -= moved;
  left_ += moved;
  searched_ -= std::min(searched_, moved);
  skip(end.offset);
  move_marks(taken);
  return taken;
}

slice chain::take_slice(std::size_t bytes, std::source_location site) {
  if (bytes > size_) misuse("from a chain was to be taken", bytes, size_, site);
  slice taken;
  if (bytes != 0 && parts_[first_].size() >= bytes) {
    taken = parts_[first_].sub(0, bytes);
  } else if (bytes != 0) {
    detail::storage* const made = detail::storage::make(bytes);
    copy_to({made->begin(), bytes});
    taken = slice{made, made->begin(), bytes};
  }
  drop(bytes, site);
  return taken;
}

void chain::add_mark(std::unique_ptr<detail::mark> one) noexcept {
  one->at = left_ + size_;
  detail::mark* const last = one.get();
  (last_mark_ != nullptr ? last_mark_->next : marks_) = std::move(one);
  last_mark_ = last;
}

/// A mark's function may change all of this, call marks in turn, and put another chain, with other counts, in this one's place: so
/// what is due says so itself, before any is called, and each leaves the list before it is called.
void chain::call_marks() {
  for (detail::mark* one = marks_.get(); one != nullptr && (one->is_due || one->at <= left_); one = one->next.get()) one->is_due = true;
  while (marks_ != nullptr && marks_->is_due) {
    const std::unique_ptr<detail::mark> one = std::move(marks_);
    marks_ = std::move(one->next);
    if (marks_ == nullptr) last_mark_ = nullptr;
    one->call();
  }
}

/// Marks go with the bytes before them, which were taken just now.
void chain::move_marks(chain& to) noexcept {
  const std::uint64_t begin = left_ - to.size_;
  while (marks_ != nullptr && (marks_->is_due || marks_->at <= left_)) {
    std::unique_ptr<detail::mark> one = std::move(marks_);
    marks_ = std::move(one->next);
    const std::uint64_t at = one->at - begin;
    to.add_mark(std::move(one));
    to.last_mark_->at = at;
  }
  if (marks_ == nullptr) last_mark_ = nullptr;
}

// --- looking ----------------------------------------------------------------------------------------------------------

/// The part that holds a byte; behind the last one for the end.
chain::position chain::place_of(std::size_t offset) const noexcept {
  std::size_t part = first_;
  while (part != parts_.size() && offset >= parts_[part].size()) offset -= parts_[part++].size();
  return {part, offset};
}

std::byte chain::at(std::size_t offset) const noexcept {
  const position there = place_of(offset);
  return parts_[there.part].data()[there.offset];
}

std::optional<line> chain::find_line(std::size_t most) noexcept {
  const std::size_t end = std::min(size_, most);
  position there = place_of(std::min(searched_, end));
  while (searched_ < end) {
    const std::span<const std::byte> part = parts_[there.part].bytes().subspan(there.offset);
    const std::size_t here = std::min(part.size(), end - searched_);
    if (const void* const found = std::memchr(part.data(), '\n', here)) {
      searched_ += static_cast<std::size_t>(static_cast<const std::byte*>(found) - part.data());
      const bool crlf = searched_ != 0 && at(searched_ - 1) == std::byte{'\r'};
      return line{searched_ - (crlf ? 1 : 0), searched_ + 1};
    }
    searched_ += here;
    there = {there.part + 1, 0};
  }
  return std::nullopt;
}

std::optional<slice> chain::take_line(std::size_t most) {
  const std::optional<line> found = find_line(most);
  if (!found) return std::nullopt;
  return take_slice(found->whole).sub(0, found->length);
}

bool chain::holds(std::string_view text, position from) const noexcept {
  while (!text.empty()) {
    if (from.part == parts_.size()) return false;
    const std::string_view here = parts_[from.part].text().substr(from.offset, text.size());
    if (!text.starts_with(here)) return false;
    text.remove_prefix(here.size());
    from = {from.part + 1, 0};
  }
  return true;
}

std::optional<std::size_t> chain::find(std::string_view text, std::size_t from) const noexcept {
  if (from > size_ || text.size() > size_ - from) return std::nullopt;
  if (text.empty()) return from;
  position there = place_of(from);
  std::size_t passed = from - there.offset;  // bytes in the parts before this one
  for (; there.part != parts_.size(); there = {there.part + 1, 0}) {
    const std::string_view part = parts_[there.part].text();
    for (std::size_t n = part.find(text.front(), there.offset); n != std::string_view::npos; n = part.find(text.front(), n + 1)) {
      if (holds(text, {there.part, n})) return passed + n;
    }
    passed += part.size();
  }
  return std::nullopt;
}

std::size_t chain::copy_to(mutable_bytes into, std::size_t from) const noexcept {
  if (from >= size_) return 0;
  std::size_t done = 0;
  for (position there = place_of(from); there.part != parts_.size() && done < into.size(); there = {there.part + 1, 0}) {
    const std::span<const std::byte> part = parts_[there.part].bytes().subspan(there.offset);
    const std::size_t here = std::min(part.size(), into.size() - done);
    std::memcpy(into.data() + done, part.data(), here);
    done += here;
  }
  return done;
}

std::string chain::to_string() const {
  std::string all(size_, '\0');
  copy_to(all);
  return all;
}

std::size_t chain::gather(std::span<std::span<const std::byte>> into, std::size_t most) const noexcept {
  std::size_t count = 0;
  for (const slice& part : slices()) {
    if (count == into.size() || most == 0) break;
    into[count] = part.bytes().first(std::min(part.size(), most));
    most -= into[count++].size();
  }
  return count;
}

}  // namespace tartan::buf
