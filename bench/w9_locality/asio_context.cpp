// W9 by Boost.Asio strands on an io_context that N threads run, posted from one handler.
// The number is not about caches that cores share: the context has one queue, and knows no neighbors.

#include "bench/lanes/asio_context.h"
#include "bench/w9_locality/workload.h"

int main(int argc, char** argv) {
  return bench::locality<bench::asio_context_strand>({argc, argv, "asio_context"});
}
