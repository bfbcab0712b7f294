#include "io/world.h"

#include <cerrno>
#include <memory>
#include <system_error>
#include <utility>

#include "core/lifecycle.h"
#include "core/sleep/poller.h"
#include "core/runtime_state.h"
#include "core/sched/policy.h"
#include "io/epoll/epoll_system.h"
#include "io/select/select_system.h"
#include "io/service.h"

namespace tartan::detail {

namespace {

template <class System>
io_service& make_kernel(runtime_state& rt) {
  if (rt.policy().shares_polling()) rt.clock().make_guard_bed();
  auto kernel = std::make_unique<System>(rt.workers(), rt.settings().pipe_signal_ignored);
  System& sockets = *kernel;
  auto made = std::make_unique<io_service>(rt, sockets, std::move(kernel));
  sockets.report_to(*made);
  const descriptors* const ours = made.get();
  descriptors& there = rt.plug_in(std::move(made));
  if (&there == ours) {
    rt.clock().take_source(sockets.source());
    rt.life().source_changed();
  }
  return static_cast<io_service&>(there);
}

}  // namespace

io_service& make_world(runtime_state& rt) {
  if (io_system* const sockets = rt.clock().sockets()) {
    auto& stays = static_cast<io_service&>(rt.plug_in(std::make_unique<io_service>(rt, *sockets)));
    sockets->report_to(stays);  // and never to one that came second: it is gone
    return stays;
  }
  if (!rt.clock().takes_source()) throw std::system_error{ENOTSUP, std::system_category(), "options::poller has no sockets"};
  return rt.choice().select ? make_kernel<select_system>(rt) : make_kernel<epoll_system>(rt);
}

}  // namespace tartan::detail
