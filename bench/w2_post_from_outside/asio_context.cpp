// W2 by Boost.Asio strands on an io_context that N threads run.
// The number is not the latency of a single post into an idle context: the threads are busy nearly all the time.

#include "bench/lanes/asio_context.h"
#include "bench/w2_post_from_outside/workload.h"

int main(int argc, char** argv) {
  return bench::post_from_outside<bench::asio_context_strand>({argc, argv, "asio_context"});
}
