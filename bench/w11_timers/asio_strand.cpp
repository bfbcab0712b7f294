// W11 by Boost.Asio: a steady_timer object per timer, on a strand per lane, in a thread_pool.
// The number is not that of one timer object which is set again and again; and the cost of a cancel holds the call of the canceled
// handler, for Asio always calls it.

#include <boost/asio/thread_pool.hpp>

#include "bench/w11_timers/asio_timers.h"

namespace {

class pool_threads {
 public:
  using executor_type = boost::asio::thread_pool::executor_type;

  explicit pool_threads(unsigned workers) : pool_{workers} {}
  executor_type executor() { return pool_.get_executor(); }
  void run_all() { pool_.join(); }

 private:
  boost::asio::thread_pool pool_;
};

}  // namespace

int main(int argc, char** argv) {
  return bench::many_timers<bench::asio_timers<pool_threads>>({argc, argv, "asio_strand"});
}
