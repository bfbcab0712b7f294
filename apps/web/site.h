#pragma once
/// What all connections share.

#include <tartan/core/per_worker.h>
#include <tartan/core/runtime.h>

#include "document_root.h"
#include "http_date.h"
#include "page_cache.h"
#include "settings.h"

namespace web {

/// What each worker has for itself.
struct worker_store {
  explicit worker_store(const cache_limits& limits) : pages{limits} {}
  page_cache pages;
  date_clock date;
};

/// Settings and folder never change; the rest is per worker: connections share nothing that would need a lock.
class site {
 public:
  /// Errors: as document_root's.
  site(tartan::runtime& rt, const settings& with) : runtime{rt}, settings{with}, root{with.root}, stores{rt, with.cache} {}

  tartan::runtime& runtime;
  const web::settings settings;
  const document_root root;
  tartan::per_worker<worker_store> stores;
};

}  // namespace web
