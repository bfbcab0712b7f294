// W6 by Boost.Asio strands on an io_context that N threads run.
// The number is not that of service in order: a strand runs all that has come, and then goes to the end of the context's queue.

#include "bench/lanes/asio_context.h"
#include "bench/w6_hot_color/workload.h"

int main(int argc, char** argv) {
  return bench::hot_color<bench::asio_context_strand>({argc, argv, "asio_context"});
}
