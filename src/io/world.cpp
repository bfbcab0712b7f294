#include "io/world.h"

#include <cerrno>
#include <memory>
#include <system_error>
#include <utility>

#include "core/lifecycle.h"
#include "core/poller.h"
#include "core/runtime_state.h"
#include "io/epoll/epoll_system.h"
#include "io/service.h"

namespace tartan::detail {

io_service& make_world(runtime_state& rt) {
  if (io_system* const sockets = rt.clock().sockets()) {
    auto& stays = static_cast<io_service&>(rt.plug_in(std::make_unique<io_service>(rt, *sockets)));
    sockets->report_to(stays);  // and never to one that came second: it is gone
    return stays;
  }
  if (!rt.clock().takes_source()) throw std::system_error{ENOTSUP, std::system_category(), "options::poller has no sockets"};
  auto kernel = std::make_unique<epoll_system>(rt.workers());
  epoll_system& sockets = *kernel;
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

}  // namespace tartan::detail
