// W11 by Boost.Asio: a steady_timer object per timer, on a strand per lane, in an io_context that N threads run.
// The number is not that of one timer object which is set again and again; and the cost of a cancel holds the call of the canceled
// handler, for Asio always calls it.

#include <boost/asio/io_context.hpp>
#include <thread>
#include <vector>

#include "bench/w11_timers/asio_timers.h"

namespace {

/// The context is told how many threads will run it.
class context_threads {
 public:
  using executor_type = boost::asio::io_context::executor_type;

  explicit context_threads(unsigned workers) : workers_{workers}, context_{static_cast<int>(workers)} {}
  executor_type executor() { return context_.get_executor(); }
  void run_all() {
    std::vector<std::thread> threads;
    for (unsigned n = 0; n < workers_; ++n) threads.emplace_back([this] { context_.run(); });
    for (std::thread& each : threads) each.join();
  }

 private:
  unsigned workers_;
  boost::asio::io_context context_;
};

}  // namespace

int main(int argc, char** argv) {
  return bench::many_timers<bench::asio_timers<context_threads>>({argc, argv, "asio_context"});
}
