#include "library.h"

#include <tartan/core/await_blocking.h>
#include <tartan/core/on.h>

#include <exception>
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
  const page_cache::entry* const known = at.pages.find(path);
  if (known != nullptr && (now - known->checked < with_.recheck || at.open.contains(path))) {
    co_return finding{status::ok, known->content, nullptr, 0, known->checked};
  }
  co_return co_await ask_disk(at, path, now);
}

/// Who comes first loads; those that come before it is there get the same.
tartan::task<finding> library::ask_disk(shelf& of, std::string_view path, page_cache::time now) {
  const finding unavailable{status::unavailable, nullptr, nullptr, 0, {}};
  auto at = of.open.find(path);
  if (at == of.open.end()) at = of.open.emplace(std::string{path}, std::make_shared<question>()).first;
  const std::shared_ptr<question> mine = at->second;
  const tartan::result<tartan::semaphore::permit> turn = co_await mine->turn.acquire();
  if (turn && !mine->answer) {
    mine->answer = unavailable;
    try {
      mine->answer = co_await load(of, path, now);
    } catch (const std::exception&) {  // no memory, no thread for the disk
    }
    of.open.erase(at);  // whose question begins now gets an answer of his own, however long this line still is
  }
  co_return turn ? *mine->answer : unavailable;
}

/// Asks the disk, and keeps what comes. Color: the shelf's, before and after.
tartan::task<finding> library::load(shelf& into, std::string_view path, page_cache::time now) {
  const page_cache::entry* const before = into.pages.find(path);
  const shared_page old = before != nullptr ? before->content : nullptr;
  std::optional<file_version> version;
  if (old != nullptr) version = old->version;
  ++into.loads;
  document came = co_await tartan::blocking([&] { return root_.load(path, with_.largest_page, version); });
  finding found{came.code, nullptr, nullptr, came.size, now};
  if (came.unchanged) {
    found.content = old;
  } else if (came.code == status::ok) {
    found.content = std::make_shared<const page>(std::move(came.content));
    if (came.large.is_open()) found.large = std::make_shared<const file>(std::move(came.large));
  }
  if (found.content != nullptr && found.large == nullptr) {
    into.pages.put(path, found.content, now);
  } else {
    into.pages.drop(path);
  }
  co_return found;
}

}  // namespace web
