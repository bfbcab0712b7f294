// W8 by Boost.Asio strands on a thread_pool, posted from one handler.
// The number is not about penalties or stealing: the pool has one queue, and each event of a strand may find another thread.

#include "bench/lanes/asio_strand.h"
#include "bench/w8_penalty/workload.h"

int main(int argc, char** argv) {
  return bench::penalty<bench::asio_strand>({argc, argv, "asio_strand"});
}
