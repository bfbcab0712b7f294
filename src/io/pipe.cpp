#include <tartan/io/pipe.h>

#include <tartan/core/runtime.h>

#include "core/runtime_state.h"
#include "io/adopt.h"
#include "io/service.h"

namespace tartan::pipe {

using detail::slot_key;

result<read_end> read_end::from_fd(int descriptor, tartan::color c, std::source_location site) {
  const result<slot_key> key = detail::adopt(detail::required_runtime("pipe::read_end::from_fd", site), descriptor, c);
  if (!key) return key.error();
  return read_end{*key};
}

result<read_end> read_end::from_fd(runtime& rt, int descriptor, tartan::color c) {
  const result<slot_key> key = detail::adopt(rt.state(), descriptor, c);
  if (!key) return key.error();
  return read_end{*key};
}

result<write_end> write_end::from_fd(int descriptor, tartan::color c, std::source_location site) {
  const result<slot_key> key = detail::adopt(detail::required_runtime("pipe::write_end::from_fd", site), descriptor, c);
  if (!key) return key.error();
  return write_end{*key};
}

result<write_end> write_end::from_fd(runtime& rt, int descriptor, tartan::color c) {
  const result<slot_key> key = detail::adopt(rt.state(), descriptor, c);
  if (!key) return key.error();
  return write_end{*key};
}

result<ends> ends::open(detail::runtime_state& rt, tartan::color reads, tartan::color writes) {
  const result<detail::io_service*> found = detail::io_service::find(rt);
  if (!found) return found.error();
  detail::io_service& service = **found;
  int both[2] = {-1, -1};
  if (const int error = service.system().open_pipe(both); error < 0) return detail::system_error(error);
  const result<slot_key> out = service.open(both[0], reads, std::nullopt);
  if (!out) {
    for (const int each : both) service.system().close(each);
    return out.error();
  }
  read_end reader{*out};
  const result<slot_key> in = service.open(both[1], writes, std::nullopt);
  if (in) return ends{std::move(reader), write_end{*in}};
  service.system().close(both[1]);
  return in.error();
}

result<ends> open(runtime& rt, tartan::color reads, tartan::color writes) { return ends::open(rt.state(), reads, writes); }

result<ends> open(std::source_location site) {
  detail::runtime_state& rt = detail::required_runtime("pipe::open", site);
  const tartan::color c = detail::here_now()->running;
  return ends::open(rt, c, c);
}

}  // namespace tartan::pipe
