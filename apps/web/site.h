#pragma once
/// What all connections share.

#include <tartan/core/per_worker.h>
#include <tartan/core/runtime.h>

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "access_log.h"
#include "host.h"
#include "http_date.h"
#include "page_cache.h"
#include "settings.h"

namespace web {

/// What each worker has for itself.
struct worker_store {
  worker_store(const cache_limits& limits, std::size_t hosts) {
    for (std::size_t n = 0; n < hosts; ++n) pages.emplace_back(limits);
  }
  std::vector<page_cache> pages;  ///< of each host, those that it has served last
  date_clock date;
  std::string output;  ///< empty: a large buffer for responses, when no connection has it
};

/// Settings and folders never change, the libraries' shelves and the log have colors, the rest is per worker: nothing needs a lock.
class site {
 public:
  /// Errors: as document_root's and access_log's.
  site(tartan::runtime& rt, const web::settings& with);

  /// `name`: as a Host header has it, with or without a port; of one that no host has, the first.
  ///
  /// Cost: nothing if there is only one.
  [[nodiscard]] host& host_of(std::string_view name) noexcept;
  [[nodiscard]] bool has_several_hosts() const noexcept { return hosts_.size() > 1; }

  tartan::runtime& runtime;
  const web::settings settings;
  const std::unique_ptr<access_log> log;  ///< null: none is wanted
  tartan::per_worker<worker_store> stores;

 private:
  std::vector<std::unique_ptr<host>> hosts_;
  std::map<std::string, host*, std::less<>> by_name_;
};

}  // namespace web
