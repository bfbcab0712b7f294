// SWS, the web server of Mely's paper (V.C.1), on simulated cores: its nine handlers, an event each, in its colors. Epoll is the runtime's own: in the
// papers' schedulers an event of color 0. Accept and DecClientAccepted have color 1, RegisterFdInEpoll that of Epoll, all others the number of the
// client's descriptor. Size: answers.
#include "simulation/workloads/server.h"

namespace simulation {

class sws : public server_base<sws> {
 public:
  using server_base::server_base;

  void open_door() { at(clients::door).open(door, told(accept_)); }

  void news(mark n) {
    if (n != clients::door) return read_request(n);
    accept_some(accept_, [this](mark accepted) { post(epoll, register_, [this, accepted] { register_in_epoll(accepted); }); });
  }

 private:
  static constexpr tartan::color epoll{0};
  static constexpr tartan::color door{1};
  static constexpr unsigned first_descriptor = 8;  // the listener, epoll and what every program has come before

  static tartan::color color_of(mark n) noexcept { return tartan::color{n - 1 + first_descriptor}; }

  void register_in_epoll(mark n) {
    const handler_scope takes{register_};
    at(n).open(color_of(n), told(read_));
    is_readable(n);
  }

  void read_request(mark n) {
    const handler_scope takes{read_};
    at(n).data.change(0, 0.4);
    const runtime_scope posts;
    if (callers().has_closed(n)) return post(color_of(n), close_, [this, n] { close(n); });
    post(color_of(n), parse_, [this, n] { parse_request(n); });
  }

  void parse_request(mark n) {
    const handler_scope takes{parse_};
    const runtime_scope posts;
    post(color_of(n), check_, [this, n] { check_in_cache(n); });
  }

  void check_in_cache(mark n) {
    const handler_scope takes{check_};
    const runtime_scope posts;
    post(color_of(n), write_, [this, n] { write_response(n); });
  }

  void write_response(mark n) {
    const handler_scope takes{write_};
    at(n).data.change(0.4, 1);
    answered(n);
  }

  void close(mark n) {
    const handler_scope takes{close_};
    at(n).data.change(0, 1);
    at(n).close();
    callers().closed(n);
    const runtime_scope posts;
    post(door, 0, [this] { client_has_gone(); });
  }

  void client_has_gone() {
    const handler_scope takes{0};
    --clients_;
  }

  const picoseconds accept_ = cost("web_accept_ns");
  const picoseconds register_ = cost("web_register_ns");
  const picoseconds read_ = cost("web_read_ns");
  const picoseconds parse_ = cost("sws_parse_ns");
  const picoseconds check_ = cost("sws_check_ns");
  const picoseconds write_ = cost("web_write_ns");
  const picoseconds close_ = cost("web_close_ns");
  long clients_ = 0;
};

}  // namespace simulation

int main(int argc, char** argv) { return simulation::serve<simulation::sws>("sws", argc, argv); }
