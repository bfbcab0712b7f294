// W9 by Boost.Asio strands on a thread_pool, posted from one handler.
// The number is not about caches that cores share: the pool has one queue, and knows no neighbors.

#include "bench/lanes/asio_strand.h"
#include "bench/w9_locality/workload.h"

int main(int argc, char** argv) {
  return bench::locality<bench::asio_strand>({argc, argv, "asio_strand"});
}
