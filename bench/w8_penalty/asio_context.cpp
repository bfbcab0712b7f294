// W8 by Boost.Asio strands on an io_context that N threads run, posted from one handler.
// The number is not about penalties or stealing: the context has one queue, and each event of a strand may find another thread.

#include "bench/lanes/asio_context.h"
#include "bench/w8_penalty/workload.h"

int main(int argc, char** argv) {
  return bench::penalty<bench::asio_context_strand>({argc, argv, "asio_context"});
}
