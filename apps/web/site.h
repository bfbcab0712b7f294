#pragma once
/// What all connections share.

#include <tartan/core/per_worker.h>
#include <tartan/core/runtime.h>
#include <tartan/http/date.h>
#include <tartan/http/host_name.h>

#include <array>
#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/line_log.h"
#include "web/exchange.h"
#include "web/host.h"
#include "web/http.h"
#include "web/local_clock.h"
#include "web/page_cache.h"
#include "web/settings.h"

namespace web {

/// What each worker has for itself.
struct worker_store {
  worker_store(const cache_limits& limits, std::size_t hosts) {
    for (std::size_t n = 0; n < hosts; ++n) pages.emplace_back(limits);
    spare.reserve(most_spare);
  }
  /// More than one is needed where answers wait for the disk, or for who reads slowly.
  static constexpr std::size_t most_spare = 16;
  static constexpr std::size_t most_of_file = 64 * 1024;
  static constexpr std::size_t most_kept = 32 * 1024;  ///< bytes of the buffers that it keeps for others: few need as much

  std::vector<page_cache> pages;  ///< of each host, some of those that it has served
  http::date_clock date;
  local_clock local_time;
  std::vector<std::unique_ptr<exchange>> spare;  ///< for the next that answer; the last one was used last
  std::string output;  ///< empty: a buffer for responses of who has given his away
  std::array<char, most_of_file> of_file;  ///< for what was read of a large file, until it is sent; not to be kept over a co_await
};

/// Settings and folders never change, the libraries' shelves and the log have colors, the rest is per worker: nothing needs a lock.
///
/// A reload makes a new one, with caches of its own. The old one goes with the last connection, or check of a page, that needs it, in whichever color
/// that is: made and destroyed where nobody else has it, it may be either on any thread.
class site {
 public:
  /// `log`: null if none is wanted; must outlive it. `sweeps`: the libraries'; all sites of a server have the same. Blocks as long as the disk takes.
  ///
  /// Errors: std::runtime_error, as document_root's, with the place in the file.
  /// `told`: document_root's, likewise.
  site(tartan::runtime& rt, const web::settings& with, tartan::apps::line_log* log,
       const std::shared_ptr<tartan::semaphore>& sweeps, const std::shared_ptr<shortage>& told = nullptr);

  /// `name`: as a Host header has it, with or without a port; of one that no host has, the first.
  ///
  /// Cost: nothing if there is only one.
  [[nodiscard]] host& host_of(std::string_view name) noexcept;
  /// Whether a host has this name, without a port.
  [[nodiscard]] bool knows(std::string_view name) const { return by_name_.contains(http::lower_name{name}.text()); }

  /// Whether one that was made by these settings now would be the same, but for what it has in memory. Threads: any; blocks as long as the disk takes.
  [[nodiscard]] bool is_as(const web::settings& with) const noexcept;

  /// Whether this process may still open files in all folders. Blocks as long as the disk takes. Errors: as of the constructor.
  void check_folders() const;

  [[nodiscard]] bool has_several_hosts() const noexcept { return hosts_.size() > 1; }

  tartan::runtime& runtime;
  const web::settings settings;
  tartan::apps::line_log* const log;  ///< null: none is wanted
  tartan::per_worker<worker_store> stores;

 private:
  std::vector<std::unique_ptr<host>> hosts_;
  std::map<std::string, host*, std::less<>> by_name_;
};

}  // namespace web
