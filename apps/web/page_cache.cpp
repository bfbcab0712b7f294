#include "web/page_cache.h"

#include <iterator>
#include <utility>

namespace web {

namespace {

constexpr unsigned most_passed_over = 16;

/// With a guess at what the containers add.
std::size_t bytes_of(const page_cache::entry& e) noexcept { return sizeof e + e.path.capacity() + e.content->bytes() + 64; }

}  // namespace

page_cache::entry* page_cache::find(std::string_view path) {
  const auto found = by_path_.find(path);
  if (found == by_path_.end()) return nullptr;
  entry& known = *found->second;
  if (!known.is_used) known.is_used = true;
  return &known;
}

const page_cache::entry* page_cache::look(std::string_view path) const {
  const auto found = by_path_.find(path);
  return found == by_path_.end() ? nullptr : &*found->second;
}

void page_cache::put(std::string_view path, shared_page content, time checked) {
  if (const auto known = by_path_.find(path); known != by_path_.end()) {
    entry& there = *known->second;
    if (there.checked > checked) return;
    if (there.content == content) {
      there.checked = checked;
      return;
    }
  }
  drop(path);
  order added;  // a list of its own until nothing can throw any more: what stands in one of both alone would be lost, and count
  added.push_front({std::string{path}, std::move(content), checked});
  const std::size_t bytes = bytes_of(added.front());
  if (bytes > limits_.bytes || limits_.entries == 0) return;
  by_path_.emplace(added.front().path, added.begin());
  make_room(bytes);  // before it is among them: nobody has found it yet, and where all others were found it would go itself
  pages_.splice(pages_.begin(), added);
  bytes_ += bytes;
}

/// For one more. One that has passed over many ends soon all the same: an event is short.
void page_cache::make_room(std::size_t bytes) noexcept {
  for (unsigned passes = most_passed_over; !pages_.empty() && (bytes_ + bytes > limits_.bytes || pages_.size() >= limits_.entries);) {
    const auto oldest = std::prev(pages_.end());
    if (std::exchange(oldest->is_used, false) && passes != 0) {
      --passes;
      pages_.splice(pages_.begin(), pages_, oldest);
    } else {
      remove(oldest);
    }
  }
}

void page_cache::drop(std::string_view path) {
  if (const auto found = by_path_.find(path); found != by_path_.end()) remove(found->second);
}

void page_cache::remove(order::iterator at) {
  bytes_ -= bytes_of(*at);
  by_path_.erase(at->path);
  pages_.erase(at);
}

}  // namespace web
