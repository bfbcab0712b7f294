// W10 by threads, one mutex and deques.
// The number is not about a worker that starts empty: there is one queue. It is the first line of the paper's table.

#include "bench/lanes/mutex_pool.h"
#include "bench/w10_table_2/workload.h"

int main(int argc, char** argv) {
  return bench::table_2<bench::mutex_pool>({argc, argv, "mutex_pool"});
}
