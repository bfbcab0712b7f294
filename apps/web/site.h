#pragma once
/// What all connections share.

#include <tartan/core/per_worker.h>
#include <tartan/core/runtime.h>

#include <string>

#include "document_root.h"
#include "http_date.h"
#include "library.h"
#include "page_cache.h"
#include "settings.h"

namespace web {

/// What each worker has for itself.
struct worker_store {
  explicit worker_store(const cache_limits& limits) : pages{limits} {}
  page_cache pages;  ///< those that it has served last
  date_clock date;
  std::string output;  ///< empty: a large buffer for responses, when no connection has it
};

/// Settings and folder never change, the library's shelves have colors, the rest is per worker: nothing needs a lock.
class site {
 public:
  /// Errors: as document_root's.
  site(tartan::runtime& rt, const settings& with)
      : runtime{rt}, settings{with}, root{with.root, with.precompressed}, pages{rt, root, with.pages}, stores{rt, share_of(with.pages.cache, rt.workers())} {}

  tartan::runtime& runtime;
  const web::settings settings;
  const document_root root;
  library pages;
  tartan::per_worker<worker_store> stores;
  const std::string boundary = new_boundary();  ///< between parts of a page: nobody who writes a page can know it

 private:
  [[nodiscard]] static std::string new_boundary();
  /// What workers keep is the library's too, but for what that had to give up meanwhile.
  [[nodiscard]] static cache_limits share_of(const cache_limits& all, unsigned workers) noexcept {
    return {all.bytes / workers + 1, all.entries};
  }
};

}  // namespace web
