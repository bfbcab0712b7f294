// W2 by Boost.Asio strands on a thread_pool.
// The number is not the latency of a single post into an idle pool: the pool is busy nearly all the time.

#include "bench/lanes/asio_strand.h"
#include "bench/w2_post_from_outside/workload.h"

int main(int argc, char** argv) {
  return bench::post_from_outside<bench::asio_strand>({argc, argv, "asio_strand"});
}
