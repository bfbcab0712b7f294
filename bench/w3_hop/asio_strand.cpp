// W3 by Boost.Asio strands on a thread_pool.
// The number is not that of two threads that wait for each other: 64 pairs keep every thread busy.

#include "bench/lanes/asio_strand.h"
#include "bench/w3_hop/workload.h"

int main(int argc, char** argv) {
  return bench::hop<bench::asio_strand>({argc, argv, "asio_strand"});
}
