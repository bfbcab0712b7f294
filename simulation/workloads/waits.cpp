// How long long events wait before they begin while workers are idle (contract 7): for readiness that nobody looks at, and behind another long event. A
// question to sleeping and waking, and to no paper. Size: ns that each long event takes.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <tartan/core/post.h>
#include <tartan/core/runtime.h>
#include <vector>

#include "simulation/workloads/server.h"

namespace simulation {

class waits {
 public:
  explicit waits(const order& what)
      : long_{what.size * 1000}, workers_{what.setup.workers}, sleeps_{what.on, [this](mark n) { return descriptors_[n]->ready(); }}, rt_{options_for(what)} {
    for (mark n = 0; n < workers_; ++n) {
      descriptors_.push_back(std::make_unique<descriptor<waits>>(*this, n, 0));
      descriptors_.back()->open(tartan::color{1000 + n}, {});
    }
  }

  [[nodiscard]] tartan::detail::runtime_state& runtime() noexcept { return *state_; }
  /// The event of a descriptor.
  void news(mark /*n*/) {
    began();
    const handler_scope takes{long_};
  }

  figures run() {
    rt_.post([this] { state_ = tartan::detail::current_runtime(); });
    rt_.run_for(std::chrono::milliseconds{1});
    const double posted = longest([this] {
      for (unsigned n = 1; n < workers_; ++n) {
        tartan::post(tartan::color{n}, [this] { news(0); });
      }
    });
    const double ready = longest([this] {
      for (mark n = 1; n < workers_; ++n) sleeps_.edge(n, running->current().clock);
    });
    const double unseen = longest([this] { keep_busy(workers_ - 1); });
    const double few = longest([this] { keep_busy(std::max(1u, workers_ / 2)); });
    figures found{{"posted_us", posted}, {"ready_us", ready}, {"beside_all_but_one_us", unseen}, {"beside_half_us", few}};
    add_counters(found, rt_.counters());
    return found;
  }

 private:
  tartan::options options_for(const order& what) {
    tartan::options with;
    with.workers = what.setup.workers;
    with.stealing = what.setup.stealing;
    with.bind_workers = true;
    with.stall_after = std::chrono::nanoseconds{0};
    with.poller = &sleeps_;
    return with;
  }

  /// So many are in long events; then, after some time, something becomes ready.
  void keep_busy(unsigned busy) {
    for (unsigned n = 1; n < busy; ++n) {
      tartan::post(tartan::color{n}, [this] { const handler_scope takes{2 * long_}; });
    }
    static_cast<void>(handler_scope{long_});
    running->take_turn();  // what others do until then comes first
    since_ = running->current().clock;
    sleeps_.edge(0, since_);
  }

  void began() { longest_ = std::max(longest_, running->current().clock - since_); }

  /// `makes` is run in an event that then takes long. Gives the longest wait of what it has made, in us.
  template <class F>
  double longest(F makes) {
    longest_ = 0;
    rt_.post([this, makes] {
      since_ = running->current().clock;
      makes();
      const handler_scope takes{long_};
    });
    rt_.run_for(std::chrono::nanoseconds{4 * long_ / 1000});
    return static_cast<double>(longest_) / 1e6;
  }

  const picoseconds long_;
  const unsigned workers_;
  socket_poller sleeps_;
  tartan::runtime rt_;
  tartan::detail::runtime_state* state_ = nullptr;
  std::vector<std::unique_ptr<descriptor<waits>>> descriptors_;
  picoseconds since_ = 0;
  picoseconds longest_ = 0;
};

}  // namespace simulation

int main(int argc, char** argv) {
  const simulation::order what{argc, argv};
  return simulation::simulate("waits", what, [&what] { return std::make_unique<simulation::waits>(what)->run(); });
}
