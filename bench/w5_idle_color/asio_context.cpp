// W5 by Boost.Asio strands of an io_context; the handle lies in a vector and counts.
// The number is not the weight of a connection, nor are the 193 locks that all strands share in it.

#include "bench/lanes/asio_context.h"
#include "bench/w5_idle_color/workload.h"

int main(int argc, char** argv) {
  return bench::idle_color<bench::asio_context_strand>({argc, argv, "asio_context"});
}
