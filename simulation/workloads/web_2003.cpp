// The web server of libasync-smp's paper on simulated cores, in its colors, while all pages are in the cache: connections are accepted in the default
// color, requests read and answers written in that of the descriptor's number, and each of ten page caches has one. Size: answers.
#include "simulation/workloads/server.h"

namespace simulation {

class web_2003 : public server_base<web_2003> {
 public:
  using server_base::server_base;

  void open_door() { at(clients::door).open({}, told(accept_ + register_)); }

  void news(mark n) {
    if (n != clients::door) return read_request(n);
    accept_some(accept_ + register_, [this](mark accepted) {
      at(accepted).open(color_of(accepted), told(read_));
      static_cast<void>(at(accepted).ready());
    });
  }

 private:
  static constexpr std::uint64_t page_caches = 10;
  static constexpr std::uint64_t first_descriptor = 16;

  static tartan::color color_of(mark n) noexcept { return tartan::color{n - 1 + first_descriptor}; }

  /// Of the page that is asked for: drawn, each as often. Below the descriptors, above the default color.
  tartan::color cache_of(mark n) noexcept {
    asked_[n] = asked_[n] * 0x5851f42d4c957f2du + n;
    return tartan::color{1 + (asked_[n] >> 40) % page_caches};
  }

  void read_request(mark n) {
    if (callers().has_closed(n)) return end(n);
    const handler_scope takes{read_};
    at(n).data.change(0, 0.4);
    const tartan::color cache = cache_of(n);
    const runtime_scope posts;
    post(cache, check_, [this, n] { check_page_cache(n); });
  }

  void check_page_cache(mark n) {
    const handler_scope takes{check_};
    const runtime_scope posts;
    post(color_of(n), write_, [this, n] { write_response(n); });
  }

  void write_response(mark n) {
    const handler_scope takes{write_};
    at(n).data.change(0.4, 1);
    answered(n);
  }

  void end(mark n) {
    {
      const handler_scope takes{close_};
      at(n).data.change(0, 1);
    }
    at(n).close();
    callers().closed(n);
  }

  const picoseconds accept_ = cost("web_accept_ns");
  const picoseconds register_ = cost("web_register_ns");
  const picoseconds read_ = cost("web_read_ns") + cost("web_2003_parse_ns");
  const picoseconds check_ = cost("web_2003_check_ns");
  const picoseconds write_ = cost("web_2003_write_ns");
  const picoseconds close_ = cost("web_close_ns");
  std::vector<std::uint64_t> asked_ = std::vector<std::uint64_t>(callers().marks());
};

}  // namespace simulation

int main(int argc, char** argv) { return simulation::serve<simulation::web_2003>("web_2003", argc, argv); }
