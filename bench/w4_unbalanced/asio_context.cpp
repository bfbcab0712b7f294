// W4 by Boost.Asio strands on an io_context that N threads run, posted from one handler.
// The number is not about stealing: the context has one queue, and the strands share 193 locks.

#include "bench/lanes/asio_context.h"
#include "bench/w4_unbalanced/workload.h"

int main(int argc, char** argv) {
  return bench::unbalanced<bench::asio_context_strand>({argc, argv, "asio_context"});
}
