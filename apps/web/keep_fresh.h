#pragma once
/// Has pages checked before they are too old to be served.

#include <chrono>
#include <memory>

#include "web/host.h"
#include "web/page_cache.h"
#include "web/site.h"

namespace web {

/// Has the host's library look again at a page of this worker that is due, or was left on the disk, in a color of its own: who serves the page does not wait
/// for that, and whoever is on the worker when an answer is there puts it into the worker's cache. Does nothing if that was asked for `pause` ago or less.
///
/// Color: any; `known` is the running worker's. Lifetime: it keeps the site until it has an answer, and copies the path.
/// Errors: none. Without memory for it the page becomes too old, and the library is asked.
/// Limits: none of its own: one for each page and worker in `pause`.
/// Cost: a coroutine, and its visits to the library.
void keep_fresh(const std::shared_ptr<site>& of, host& at, page_cache::entry& known, page_cache::time now, std::chrono::milliseconds pause) noexcept;

}  // namespace web
