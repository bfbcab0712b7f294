// W1 by Boost.Asio strands on an io_context that N threads run.
// The number is not that of I/O: the context has no descriptor, and makes no reactor until it has one. Nor does it hold a post site.

#include "bench/lanes/asio_context.h"
#include "bench/w1_event_cost/workload.h"

int main(int argc, char** argv) {
  return bench::event_cost<bench::asio_context_strand>({argc, argv, "asio_context"});
}
