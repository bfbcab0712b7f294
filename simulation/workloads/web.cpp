// Our web server (apps/web) on simulated cores: a color for each connection, in which one event reads, answers and writes; connections are accepted
// in the default color. Size: answers.
#include "simulation/workloads/server.h"

namespace simulation {

class web : public server_base<web> {
 public:
  using server_base::server_base;

  void open_door() { at(clients::door).open({}, told(accept_ + register_)); }

  void news(mark n) {
    if (n == clients::door) return accept_some(accept_ + register_, [this](mark accepted) { begin(accepted); });
    if (callers().has_closed(n)) return end(n);
    const handler_scope takes{request_};
    at(n).data.change(0, 1);
    answered(n);
  }

 private:
  /// Its first request is there.
  void begin(mark n) {
    descriptor<web>& c = at(n);
    c.own.emplace();
    c.open(c.own->value(), told(request_));
    static_cast<void>(c.ready());
  }

  void end(mark n) {
    descriptor<web>& c = at(n);
    {
      const handler_scope takes{close_};
      c.data.change(0, 1);
    }
    c.close();
    c.own.reset();
    callers().closed(n);
  }

  const picoseconds accept_ = cost("web_accept_ns");
  const picoseconds register_ = cost("web_register_ns");
  const picoseconds request_ = cost("web_read_ns") + cost("web_answer_ns") + cost("web_write_ns");
  const picoseconds close_ = cost("web_close_ns");
};

}  // namespace simulation

int main(int argc, char** argv) { return simulation::serve<simulation::web>("web", argc, argv); }
