// W7 by Boost.Asio strands of an io_context, made by make_strand and gone with their last event.
// The number is not the cost of a connection: nothing is connected, and strands share 193 locks by a hash.

#include "bench/lanes/asio_context.h"
#include "bench/w7_short_lived/workload.h"

int main(int argc, char** argv) {
  return bench::short_lived<bench::asio_context_strand>({argc, argv, "asio_context"});
}
