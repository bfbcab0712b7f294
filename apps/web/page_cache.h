#pragma once
/// Pages that were read before.

#include <chrono>
#include <cstddef>
#include <list>
#include <string>
#include <string_view>
#include <unordered_map>

#include "web/page.h"

namespace web {

/// How much a cache may keep.
struct cache_limits {
  std::size_t bytes = std::size_t{64} << 20;  ///< of pages, with their paths
  std::size_t entries = 4096;

  [[nodiscard]] bool operator==(const cache_limits&) const = default;
};

/// Pages by path. The oldest make room for new ones; one that was found meanwhile is passed over, once for all times that it was found, and is the
/// newest then. So a hit writes one byte, and mostly none, for there is no order of use.
///
/// The shelves of the library are such caches, and each worker has a small one of its own in front of them (tartan::per_worker): a hit there
/// costs no lock, no visit to another color and, if it is short, no count: the page is copied into the response within the event that found it.
/// Lifetime: what find gives, until put or drop, and not over a co_await.
class page_cache {
 public:
  using time = std::chrono::steady_clock::time_point;

  struct entry {
    std::string path;
    shared_page content;
    time checked;  ///< when it was last known to be what the disk has
    time asked{};  ///< when it was last asked whether it still is, ahead of time
    bool is_used = false;  ///< found since it came, or was passed over
  };

  explicit page_cache(const cache_limits& limits) : limits_{limits} {}

  /// Null: not here. What is found is passed over when room is made next.
  [[nodiscard]] entry* find(std::string_view path);
  /// The same for who does not want the page, but to know what is here: it does not count as found.
  [[nodiscard]] const entry* look(std::string_view path) const;

  /// Takes the place of what is there under this path, unless that was checked later: what comes late may be an older state. A page beyond the limits
  /// is not kept, and drives out no other.
  ///
  /// Errors: std::bad_alloc; then there is nothing under this path.
  /// Limits: 16 pages are passed over, at most; then the oldest goes, whether it was found or not.
  void put(std::string_view path, shared_page content, time checked);
  void drop(std::string_view path);

  [[nodiscard]] std::size_t size() const noexcept { return by_path_.size(); }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

 private:
  using order = std::list<entry>;
  void make_room(std::size_t bytes) noexcept;
  void remove(order::iterator at);

  cache_limits limits_;
  std::size_t bytes_ = 0;
  order pages_;  ///< the oldest last
  std::unordered_map<std::string_view, order::iterator> by_path_;  ///< views of the entries' paths
};

}  // namespace web
