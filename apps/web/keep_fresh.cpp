#include "web/keep_fresh.h"

#include <tartan/core/hints.h>
#include <tartan/core/spawn.h>
#include <tartan/core/strand.h>
#include <tartan/core/task.h>

#include <new>
#include <optional>
#include <string>
#include <utility>

namespace web {

namespace {

struct question {
  std::shared_ptr<site> of;
  host* at;
  std::string key;
  page_cache::time now;
  /// Its color. A strand's events run on the worker that made it, unless another one is idle: so the answer mostly comes to the worker that wants it.
  tartan::strand color;
};

tartan::task<> ask(question what) {
  co_await tartan::hint({.priority = 1});
  try {
    const std::optional<finding> found = co_await what.at->pages.check_ahead(what.key, what.now);
    if (found && found->content != nullptr) what.of->stores.local().pages[what.at->index].put(what.key, found->content, found->checked);
  } catch (const std::bad_alloc&) {  // it becomes old
  }
}

}  // namespace

void keep_fresh(const std::shared_ptr<site>& of, host& at, page_cache::entry& known, page_cache::time now, std::chrono::milliseconds pause) noexcept {
  if (now - known.asked < pause) return;
  // What has no tag is a listing, which is made anew each time, or a file that was just written.
  if (known.content->tag.empty()) return;
  // Whoever asks for it has to open it anyway, or is served what is known of it: its siblings.
  if (known.content->is_large() && known.content->large.expired() && known.content->siblings.empty()) return;
  known.asked = now;
  try {
    question what{of, &at, known.path, now, tartan::strand{of->runtime}};
    const tartan::color where = what.color.value();
    tartan::spawn_in(where, ask(std::move(what)));
  } catch (const std::bad_alloc&) {  // nobody asks: it becomes old
  }
}

}  // namespace web
