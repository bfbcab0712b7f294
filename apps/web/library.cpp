#include "library.h"

#include <tartan/core/await_blocking.h>
#include <tartan/core/on.h>

#include <functional>
#include <utility>

namespace web {

library::library(tartan::runtime& rt, const document_root& from, const library_settings& with) : root_{from}, with_{with} {
  const cache_limits each{with.cache.bytes / shelves_.size() + 1, with.cache.entries / shelves_.size() + 1};
  for (auto& one : shelves_) one = std::make_unique<shelf>(rt, each);
}

std::size_t library::loads() const noexcept {
  std::size_t sum = 0;
  for (const auto& each : shelves_) sum += each->loads;
  return sum;
}

tartan::task<finding> library::ask(std::string_view path, page_cache::time now) {
  shelf& at = *shelves_[std::hash<std::string_view>{}(path) % shelves_.size()];
  co_await tartan::on(at.color.value());
  page_cache::entry* const known = at.pages.find(path);
  if (known == nullptr) co_return co_await await_arrival(at, path, now);
  if (now - known->checked < with_.recheck) co_return finding{status::ok, known->content, nullptr, 0, known->checked};
  known->checked = now;  // meanwhile others get the old one
  co_return co_await load(at, path, now);
}

/// Asks the disk, and keeps what comes. Color: the shelf's, before and after.
tartan::task<finding> library::load(shelf& in, std::string_view path, page_cache::time now) {
  const page_cache::entry* const before = in.pages.find(path);
  const shared_page old = before != nullptr ? before->content : nullptr;
  std::optional<file_version> version;
  if (old != nullptr) version = old->version;
  ++in.loads;
  document came = co_await tartan::blocking([&] { return root_.load(path, with_.largest_page, version); });
  finding found{came.code, nullptr, nullptr, came.size, now};
  if (came.unchanged) {
    found.content = old;
  } else if (came.code == status::ok) {
    found.content = std::make_shared<const page>(std::move(came.content));
    if (came.large.is_open()) found.large = std::make_shared<const file>(std::move(came.large));
  }
  if (found.content != nullptr && found.large == nullptr) {
    in.pages.put(path, found.content, now);
  } else {
    in.pages.drop(path);
  }
  co_return found;
}

/// Who comes first loads; those that come before it is there get the same.
tartan::task<finding> library::await_arrival(shelf& in, std::string_view path, page_cache::time now) {
  const auto at = in.arrivals.try_emplace(std::string{path}).first;
  arrival& mine = at->second;
  struct presence {  // also if the load throws, or the coroutine is destroyed
    shelf& in;
    decltype(at) where;
    presence(shelf& i, decltype(at) w) : in{i}, where{w} { ++where->second.awaiting; }
    presence(const presence&) = delete;
    presence& operator=(const presence&) = delete;
    ~presence() {
      if (--where->second.awaiting == 0) in.arrivals.erase(where);
    }
  };
  const presence here{in, at};
  finding found;
  {
    const tartan::result<tartan::semaphore::permit> turn = co_await mine.turn.acquire();
    if (!turn) {
      found.code = status::unavailable;
      co_return found;
    }
    if (!mine.came) mine.came = co_await load(in, path, now);
    found = *mine.came;
  }
  co_return found;
}

}  // namespace web
