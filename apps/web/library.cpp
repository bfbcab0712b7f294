#include "library.h"

#include <tartan/core/await_blocking.h>
#include <tartan/core/on.h>

#include <algorithm>
#include <exception>
#include <functional>
#include <utility>

namespace web {

namespace {

/// As it is on the shelf; nothing if it is not there, or is large and nobody has it open any more.
std::optional<finding> kept(page_cache& pages, std::string_view key) {
  const page_cache::entry* const known = pages.find(key);
  if (known == nullptr) return std::nullopt;
  finding found{status::ok, known->content, known->content->large.lock(), known->checked};
  if (known->content->is_large() && found.large == nullptr) return std::nullopt;
  return found;
}

/// A page that its shelf could not keep would be read each time.
library_settings within(library_settings with, const cache_limits& shelf) {
  with.largest_page = std::min(with.largest_page, shelf.bytes / 2);
  return with;
}

constexpr std::size_t shelf_count = 64;

cache_limits share_of(const cache_limits& all) noexcept { return {all.bytes / shelf_count + 1, all.entries / shelf_count + 1}; }

}  // namespace

library::library(tartan::runtime& rt, const document_root& from, const library_settings& with)
    : root_{from}, with_{within(with, share_of(with.cache))}, shelves_(shelf_count) {
  for (auto& one : shelves_) one = std::make_unique<shelf>(rt, share_of(with.cache));
}

std::size_t library::loads() const noexcept {
  std::size_t sum = 0;
  for (const auto& each : shelves_) sum += each->loads;
  return sum;
}

tartan::task<finding> library::ask(std::string_view key, page_cache::time now) {
  shelf& at = *shelves_[std::hash<std::string_view>{}(key) % shelves_.size()];
  co_await tartan::on(at.color.value());
  const std::optional<finding> known = kept(at.pages, key);
  if (known && (now - known->checked < with_.recheck || at.open.contains(key))) co_return *known;
  co_return co_await ask_disk(at, key, now);
}

/// Who comes first loads; those that come before it is there get the same.
tartan::task<finding> library::ask_disk(shelf& of, std::string_view key, page_cache::time now) {
  const finding unavailable{status::unavailable, nullptr, nullptr, {}};
  auto at = of.open.find(key);
  if (at == of.open.end()) at = of.open.emplace(std::string{key}, std::make_shared<question>()).first;
  const std::shared_ptr<question> mine = at->second;
  const tartan::result<tartan::semaphore::permit> turn = co_await mine->turn.acquire();
  if (turn && !mine->answer) {
    const std::optional<finding> old = kept(of.pages, key);
    mine->answer = unavailable;
    try {
      mine->answer = co_await load(of, key, now, old);
    } catch (const std::exception&) {  // no memory, no thread for the disk
    }
    if (mine->answer->code == status::unavailable && old) mine->answer = old;
    of.open.erase(at);  // whose question begins now gets an answer of his own, however long this line still is
  }
  co_return turn ? *mine->answer : unavailable;
}

/// Asks the disk, and keeps what comes. Color: the shelf's, before and after.
tartan::task<finding> library::load(shelf& into, std::string_view key, page_cache::time now, const std::optional<finding>& old) {
  const page* const known = old ? old->content.get() : nullptr;
  ++into.loads;
  document came = co_await tartan::blocking([&] { return root_.load(key, with_.largest_page, known); });
  finding found{came.code, nullptr, nullptr, now};
  if (came.unchanged) {
    found.content = old->content;
    found.large = old->large;
  } else if (came.code == status::ok) {
    if (came.large.is_open()) {
      const bool is_open_already = old && old->large != nullptr && old->content->version == came.content.version;
      found.large = is_open_already ? old->large : std::make_shared<const file>(std::move(came.large));
    }
    came.content.large = found.large;
    found.content = std::make_shared<const page>(std::move(came.content));
  }
  if (found.content != nullptr) {
    into.pages.put(key, found.content, now);
  } else if (came.code != status::unavailable) {
    into.pages.drop(key);
  }
  co_return found;
}

}  // namespace web
