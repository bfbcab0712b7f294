// W10 by Boost.Asio strands on a thread_pool.
// The number is not about a worker that starts empty: the pool has one queue. It is the first line of the paper's table.

#include "bench/lanes/asio_strand.h"
#include "bench/w10_table_2/workload.h"

int main(int argc, char** argv) {
  return bench::table_2<bench::asio_strand>({argc, argv, "asio_strand"});
}
