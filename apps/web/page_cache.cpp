#include "page_cache.h"

#include <iterator>
#include <utility>

namespace web {

namespace {

/// With a guess at what the containers add.
std::size_t bytes_of(const page_cache::entry& e) noexcept { return sizeof e + e.path.capacity() + e.content->bytes() + 64; }

}  // namespace

page_cache::entry* page_cache::find(std::string_view path) {
  const auto found = by_path_.find(path);
  if (found == by_path_.end()) return nullptr;
  by_use_.splice(by_use_.begin(), by_use_, found->second);
  return &*found->second;
}

void page_cache::put(std::string_view path, shared_page content, time checked) {
  if (entry* const known = find(path); known != nullptr) {
    if (known->checked > checked) return;
    if (known->content == content) {
      known->checked = checked;
      return;
    }
  }
  drop(path);
  order added;  // a list of its own until nothing can throw any more: what stands in one of both alone would be lost, and count
  added.push_front({std::string{path}, std::move(content), checked});
  const std::size_t bytes = bytes_of(added.front());
  if (bytes > limits_.bytes || limits_.entries == 0) return;
  by_path_.emplace(added.front().path, added.begin());
  by_use_.splice(by_use_.begin(), added);
  bytes_ += bytes;
  while (bytes_ > limits_.bytes || by_use_.size() > limits_.entries) remove(std::prev(by_use_.end()));
}

void page_cache::drop(std::string_view path) {
  if (const auto found = by_path_.find(path); found != by_path_.end()) remove(found->second);
}

void page_cache::remove(order::iterator at) {
  bytes_ -= bytes_of(*at);
  by_path_.erase(at->path);
  by_use_.erase(at);
}

}  // namespace web
