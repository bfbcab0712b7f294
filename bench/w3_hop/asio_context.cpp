// W3 by Boost.Asio strands on an io_context that N threads run.
// The number is not that of two threads that wait for each other: 64 pairs keep every thread busy.

#include "bench/lanes/asio_context.h"
#include "bench/w3_hop/workload.h"

int main(int argc, char** argv) {
  return bench::hop<bench::asio_context_strand>({argc, argv, "asio_context"});
}
