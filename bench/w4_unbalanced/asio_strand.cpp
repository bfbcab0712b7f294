// W4 by Boost.Asio strands on a thread_pool, posted from one handler.
// The number is not about stealing: the pool has one queue, and the strands share 193 locks.

#include "bench/lanes/asio_strand.h"
#include "bench/w4_unbalanced/workload.h"

int main(int argc, char** argv) {
  return bench::unbalanced<bench::asio_strand>({argc, argv, "asio_strand"});
}
