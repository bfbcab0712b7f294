#include "web/library.h"

#include <tartan/core/await_blocking.h>
#include <tartan/core/hints.h>
#include <tartan/core/on.h>
#include <tartan/core/spawn.h>
#include <tartan/core/when_all.h>
#include <tartan/time/sleep.h>

#include <algorithm>
#include <exception>
#include <functional>
#include <new>
#include <numeric>
#include <utility>

namespace web {

namespace {

/// As it is on the shelf; nothing if it is not there, or is large and nobody has it open any more, or it was written to since.
std::optional<finding> kept(page_cache& pages, std::string_view key) {
  const page_cache::entry* const known = pages.find(key);
  if (known == nullptr) return std::nullopt;
  finding found{http::status::ok, known->content, known->content->large.lock(), known->checked};
  if (known->content->is_large() && (found.large == nullptr || !found.large->is_as_it_was())) return std::nullopt;
  return found;
}

/// A page that its shelf could not keep would be read each time.
library_settings within(library_settings with, const cache_limits& shelf) {
  with.largest_page = std::min(with.largest_page, shelf.bytes / 2);
  return with;
}

constexpr int most_tries = 3;
constexpr std::size_t most_due = 1024;
constexpr std::size_t most_read = 1 << 20;
constexpr std::chrono::seconds unused_for{5};

cache_limits share_of(const library_settings& all) noexcept { return {all.cache.bytes / all.shelves + 1, all.cache.entries / all.shelves + 1}; }

}  // namespace

library::library(tartan::runtime& rt, const document_root& from, const library_settings& with, std::shared_ptr<tartan::semaphore> sweeps)
    : root_{from}, with_{within(with, share_of(with))},
      sweeps_{sweeps != nullptr ? std::move(sweeps) : std::make_shared<tartan::semaphore>(most_sweeps)}, shelves_(with.shelves), sweep_{rt} {
  for (auto& one : shelves_) one = std::make_shared<shelf>(rt, share_of(with));
}

std::size_t library::loads() const noexcept {
  std::size_t sum = 0;
  for (const auto& each : shelves_) sum += each->loads;
  return sum;
}

const std::shared_ptr<library::shelf>& library::shelf_of(std::string_view key) noexcept {
  return shelves_[std::hash<std::string_view>{}(key) % shelves_.size()];
}

tartan::task<finding> library::ask(std::string_view key, page_cache::time now) {
  const std::shared_ptr<shelf>& at = shelf_of(key);
  co_await tartan::on(at->color.value());
  std::optional<finding> found = kept(at->pages, key);
  const bool is_fresh = found && now - found->checked < with_.fresh_for(*found->content);
  if (!found || (!is_fresh && !at->open.contains(key))) found = co_await ask_disk(*at, key, now);
  if (found->large != nullptr) stay_open(at, found->large);
  co_return *found;
}

/// Color: the shelf's. Does nothing if there is no memory for it.
void library::stay_open(const std::shared_ptr<shelf>& on, const large_file& what) noexcept {
  const std::size_t most = with_.open_files / with_.shelves;
  if (most == 0) return;
  what->note_use();
  auto& files = on->files;
  const auto known = std::find(files.begin(), files.end(), what);
  if (known != files.end()) {
    std::rotate(known, known + 1, files.end());
    return;
  }
  try {
    if (!on->closes) tartan::spawn_in(on->color.value(), close_unused(on));
    on->closes = true;
    files.push_back(what);
  } catch (const std::bad_alloc&) {  // it closes when it has been sent
  }
  if (files.size() <= most) return;
  // Who sends it without a visit has left it where it was, but says so.
  const auto unused = std::find_if(files.begin(), files.end(), [](const auto& each) { return !each->is_used(); });
  files.erase(unused != files.end() ? unused : files.begin());
}

/// One file after the other is left to those who send it, 5 to 10 s after it was last used. Color: the shelf's, which may go meanwhile, with all of
/// them.
tartan::task<> library::close_unused(std::weak_ptr<shelf> at) {
  for (;;) {
    const tartan::result<> passed = co_await tartan::sleep(unused_for);
    const std::shared_ptr<shelf> on = at.lock();  // not over the sleep
    if (on == nullptr) co_return;
    if (!passed) on->files.clear();
    std::erase_if(on->files, [](const auto& each) { return !each->take_use(); });
    on->closes = !on->files.empty();
    if (!on->closes) co_return;
  }
}

/// Who comes first loads; those that come before it is there get the same.
tartan::task<finding> library::ask_disk(shelf& of, std::string_view key, page_cache::time now) {
  const finding unavailable{http::status::unavailable, nullptr, nullptr, {}};
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
    if (mine->answer->code == http::status::unavailable && old) mine->answer = old;
    of.open.erase(at);  // whose question begins now gets an answer of his own, however long this line still is
  }
  co_return turn ? *mine->answer : unavailable;
}

/// Whether a long file of this size may be read into memory now. A set that is larger than the cache is not read again and again, which costs some times
/// what it would cost to send it from the disk. Color: the shelf's.
bool library::may_be_read(shelf& of, std::uint64_t size, page_cache::time now) const noexcept {
  const std::size_t most = share_of(with_).bytes;
  const auto passed = std::min<page_cache::time::duration>(now - of.credited, with_.renewal);
  if (passed >= with_.renewal / 1000) {  // less might be less than a byte
    const auto renewed = static_cast<std::size_t>(static_cast<double>(most) * (std::chrono::duration<double>{passed} / with_.renewal));
    of.long_pages -= std::min(of.long_pages, renewed);
    of.credited = now;
  }
  const bool is_room = page_body::living() / living_.of() < with_.most_living;
  return is_room && size <= with_.largest_page && of.long_pages + size <= most;
}

/// Whether it was left on the disk, and may be read now.
bool library::is_to_be_read(shelf& of, const page& known, page_cache::time now) const noexcept {
  return known.is_large() && may_be_read(of, known.size, now);
}

/// Asks the disk, and keeps what comes; a long file is opened, and read if there is a place for it. Color: the shelf's, before and after.
tartan::task<finding> library::load(shelf& into, std::string_view key, page_cache::time now, const std::optional<finding>& old) {
  const page* const known = old && !is_to_be_read(into, *old->content, now) ? old->content.get() : nullptr;
  document came;
  http::status read = http::status::unavailable;
  for (int tries = 0; read == http::status::unavailable && tries < most_tries; ++tries) {
    came = co_await tartan::blocking([&] { return root_.load(key, std::min(with_.largest_page, with_.short_page), known); });
    const bool is_left = came.large == nullptr || !may_be_read(into, came.content.size, now);
    read = is_left ? http::status::ok : co_await read_long(into, came);
  }
  if (read != http::status::ok) {
    came = document{};
    came.code = read;
  }
  co_return keep(into, key, std::move(came), old, now);
}

/// What was opened becomes a page in memory; it goes on being sent from the disk if there is no memory, or it has grown, or its tag may not be its own.
/// internal_error: it cannot be read. unavailable: it was written to, so that nobody could send it. All that is read counts, also of one that changes as
/// often as it is read. Color: the shelf's, before and after.
tartan::task<http::status> library::read_long(shelf& into, document& what) {
  into.long_pages += what.content.size;  // others come meanwhile
  try {
    std::optional<page_body> body;
    const http::status found = co_await tartan::blocking([&] {
      std::string text(what.content.size, '\0');
      const bool is_read = what.large->read(text, 0, text.size()) != 0;
      if (!is_read) return what.large->is_as_it_was() ? http::status::internal_error : http::status::unavailable;
      if (what.large->is_of(what.content.version)) body.emplace(std::move(text));
      return http::status::ok;
    });
    if (!body) co_return found;
    what.content.body = std::move(*body);
    what.large = nullptr;
    if (what.content.tag.empty()) what.content.version = {};  // it may change unseen: the next check reads it again
  } catch (const std::exception&) {  // no memory, no thread for the disk
  }
  co_return http::status::ok;
}

/// What the disk has said, when it was asked at that time. Color: the shelf's.
finding library::keep(shelf& into, std::string_view key, document came, const std::optional<finding>& old, page_cache::time asked) {
  ++into.loads;
  finding found{came.code, nullptr, nullptr, asked};
  if (came.unchanged) {
    found.content = old->content;
    found.large = old->large;
  } else if (came.code == http::status::ok) {
    if (came.large != nullptr) {
      const bool is_open_already = old && old->large != nullptr && old->content->version == came.content.version;
      found.large = is_open_already ? old->large : std::move(came.large);
    }
    came.content.large = found.large;
    found.content = std::make_shared<const page>(std::move(came.content));
  }
  const page_cache::entry* const before = came.code != http::status::unavailable && !came.unchanged ? into.pages.look(key) : nullptr;
  if (const large_file was = before != nullptr ? before->content->large.lock() : nullptr; was != nullptr && was != found.large) {
    std::erase(into.files, was);  // it is another file now, or none, or has another length
  }
  if (found.content != nullptr) {
    into.pages.put(key, found.content, asked);
  } else if (came.code != http::status::unavailable) {
    into.pages.drop(key);
  }
  return found;
}

tartan::task<std::optional<finding>> library::check_ahead(std::string_view key, page_cache::time now) {
  const std::shared_ptr<shelf>& at = shelf_of(key);
  co_await tartan::on(at->color.value());
  page_cache::entry* const known = at->pages.find(key);
  if (known == nullptr || at->open.contains(key)) co_return std::nullopt;  // who asks for it brings it
  if (const large_file sent = known->content->large.lock(); sent != nullptr) stay_open(at, sent);  // those that serve it do not ask
  if (is_to_be_read(*at, *known->content, now)) {
    const tartan::result<tartan::semaphore::permit> may = sweeps_->try_acquire();
    if (may && sweeps_->available() != 0) {  // one is left to the sweeps
      finding found = co_await ask_disk(*at, key, now);
      if (found.large != nullptr) stay_open(at, found.large);
      if (found.content == nullptr) co_return std::nullopt;  // it becomes old, and is asked for
      co_return found;
    }
  }
  if (!with_.is_due(known->checked, now)) co_return finding{http::status::ok, known->content, nullptr, known->checked};
  std::optional<due_page> added;
  if (with_.is_due(known->asked, now)) {
    known->asked = now;
    added = due_page{at.get(), std::string{key}, known->content};
  }
  co_await tartan::on(sweep_.color.value());
  if (now - sweep_.begun >= with_.recheck) sweep_.due.clear();  // by now they are old, and were asked for if anybody wants them
  if (sweep_.due.empty()) sweep_.begun = now;
  if (added && sweep_.due.size() < most_due) sweep_.due.push_back(std::move(*added));
  if (!sweep_.running && !sweep_.due.empty() && now - sweep_.begun >= with_.pause()) co_await check_due(now);
  co_return std::nullopt;
}

/// By a blocking thread. Gives answers for the first of them, at least one.
std::vector<document> library::load_again(const std::vector<due_page>& all) const {
  const page_cache::time begun = std::chrono::steady_clock::now();
  std::vector<document> came;
  std::size_t bytes = 0;
  const document_root::place in = root_.now();
  for (const due_page& each : all) {
    const shared_page known = each.known.lock();
    document found;
    const std::size_t most = known != nullptr && known->is_large() ? std::min(with_.short_page, with_.largest_page) : with_.largest_page;
    if (known != nullptr) found = root_.load(each.key, most, known.get(), in);
    // Nobody wants it any more, or it is a large one that has changed: whoever asks for it opens it.
    if (known == nullptr || found.large != nullptr) {
      found = document{};
      found.code = http::status::unavailable;
    }
    bytes += found.content.body.size();
    came.push_back(std::move(found));
    if (bytes >= most_read || std::chrono::steady_clock::now() - begun >= with_.longest_sweep) break;
  }
  return came;
}

/// Puts what the disk has said of the first of them onto their shelves, all at once: each visit waits behind whoever else visits that shelf, and one after the
/// other they would take so long that pages become old meanwhile. Color: the caller's. Errors: std::bad_alloc; then some have not been put there, or none.
tartan::task<> library::keep_swept(const std::vector<due_page>& all, std::vector<document>& came, page_cache::time asked) {
  std::vector<std::size_t> by_shelf(came.size());
  std::iota(by_shelf.begin(), by_shelf.end(), std::size_t{0});
  std::sort(by_shelf.begin(), by_shelf.end(), [&](std::size_t a, std::size_t b) { return std::less<>{}(all[a].on, all[b].on); });
  std::vector<tartan::task<>> visits;
  visits.reserve(by_shelf.size());
  for (auto first = by_shelf.begin(); first != by_shelf.end();) {
    shelf* const into = all[*first].on;
    const auto last = std::find_if(first, by_shelf.end(), [&](std::size_t n) { return all[n].on != into; });
    visits.push_back(keep_on(*into, all, came, {first, last}, asked));
    first = last;
  }
  co_await tartan::when_all(std::move(visits));
}

/// Those of one shelf. Color: moves to the shelf's.
tartan::task<> library::keep_on(shelf& into, const std::vector<due_page>& all, std::vector<document>& came, std::span<const std::size_t> which,
                                page_cache::time asked) {
  co_await tartan::hint({.priority = 1});  // a branch has none of its parent's
  for (const std::size_t n : which) {
    co_await tartan::on(into.color.value());  // for each anew: after 64 of them others have their turn
    const due_page& each = all[n];
    const page_cache::entry* const there = into.pages.look(each.key);
    // Driven out, or asked for meanwhile: what the sweep has read may be an older state.
    if (there == nullptr || there->content != each.known.lock() || there->checked >= asked || into.open.contains(each.key)) continue;
    const finding old{http::status::ok, there->content, nullptr, there->checked};
    try {
      static_cast<void>(keep(into, each.key, std::move(came[n]), old, asked));
    } catch (const std::bad_alloc&) {  // it stays as it was
    }
  }
}

/// Asks about all that have gathered. Color: the sweep's, before and after.
tartan::task<> library::check_due(page_cache::time now) {
  const tartan::result<tartan::semaphore::permit> may = sweeps_->try_acquire();
  if (!may) co_return;
  sweep_.running = true;
  std::vector<due_page> all = std::exchange(sweep_.due, {});
  std::vector<document> came;
  try {
    came = co_await tartan::blocking([&] { return load_again(all); });
  } catch (const std::exception&) {  // no memory, no thread for the disk, or the end
  }
  try {
    co_await keep_swept(all, came, now);
  } catch (const std::bad_alloc&) {  // they become old, and are asked for
  }
  sweep_.running = false;
  if (came.empty() || came.size() == all.size()) co_return;
  all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(came.size()));
  try {
    const std::size_t more = std::min(sweep_.due.size(), most_due - all.size());
    all.insert(all.end(), sweep_.due.begin(), sweep_.due.begin() + static_cast<std::ptrdiff_t>(more));
  } catch (const std::bad_alloc&) {  // those that came meanwhile become old
  }
  sweep_.due = std::move(all);
  sweep_.begun = now;
}

}  // namespace web
