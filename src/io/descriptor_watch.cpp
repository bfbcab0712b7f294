// Readiness is asked for each time, not remembered: since the last edge the owner may have read everything, or only a
// part, for which no other edge comes. After poll() has found nothing, the kernel owes the next edge.
#include <tartan/io/descriptor_watch.h>

#include <memory>
#include <optional>
#include <tartan/core/runtime.h>

#include "core/runtime_state.h"
#include "io/service.h"

namespace tartan {

namespace detail {

namespace {

struct lent_descriptor final : slot_extra {
  explicit lent_descriptor(int its_number) noexcept : number{its_number} {}
  const int number;  ///< the owner's; the slot has a duplicate

  [[nodiscard]] static int of(const io_slot& slot) noexcept {
    return static_cast<const lent_descriptor&>(*slot.extra).number;
  }
};

}  // namespace

io_wait::step watched_op::attempt(io_slot& on) noexcept {
  const int ready = on.service().system().is_ready(on.descriptor(), way_, lent_descriptor::of(on));
  if (ready < 0) return fail(-ready);
  return ready != 0 ? step::done : step::would_block;
}

}  // namespace detail

result<descriptor_watch> descriptor_watch::open_in(detail::runtime_state& rt, int descriptor, tartan::color c) {
  const result<detail::io_service*> found = detail::io_service::find(rt);
  if (!found) return found.error();
  detail::io_service& service = **found;
  auto lent = std::make_unique<detail::lent_descriptor>(descriptor);
  const int own = service.system().duplicate(descriptor);
  if (own < 0) return detail::system_error(own);
  const result<detail::slot_key> opened = service.open(own, c, std::nullopt, std::move(lent));
  if (opened) return descriptor_watch{*opened};
  service.system().close_unwatched(own);
  return opened.error();
}

result<descriptor_watch> descriptor_watch::of(int descriptor, std::source_location site) {
  detail::runtime_state& rt = detail::required_runtime("descriptor_watch::of", site);
  return open_in(rt, descriptor, detail::here_now()->running);
}

result<descriptor_watch> descriptor_watch::of(runtime& rt, int descriptor, tartan::color c) {
  return open_in(rt.state(), descriptor, c);
}

int descriptor_watch::descriptor() const noexcept { return is_open() ? detail::lent_descriptor::of(*key().slot) : -1; }

}  // namespace tartan
