// W6 by Boost.Asio strands on a thread_pool.
// The number is not that of service in order: a strand runs all that has come, and then goes to the end of the pool's queue.

#include "bench/lanes/asio_strand.h"
#include "bench/w6_hot_color/workload.h"

int main(int argc, char** argv) {
  return bench::hot_color<bench::asio_strand>({argc, argv, "asio_strand"});
}
