// W10 by Boost.Asio strands on an io_context that N threads run.
// The number is not about a worker that starts empty: the context has one queue. It is the first line of the paper's table.

#include "bench/lanes/asio_context.h"
#include "bench/w10_table_2/workload.h"

int main(int argc, char** argv) {
  return bench::table_2<bench::asio_context_strand>({argc, argv, "asio_context"});
}
