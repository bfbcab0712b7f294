// W1 by Boost.Asio strands on a thread_pool.
// The number is not that of asio::defer, with which a continuation may be cheaper, nor of an io_context with strands of its own;
// nor does it hold what a Tartan event carries beside the callable, the post site.

#include "bench/lanes/asio_strand.h"
#include "bench/w1_event_cost/workload.h"

int main(int argc, char** argv) {
  return bench::event_cost<bench::asio_strand>({argc, argv, "asio_strand"});
}
