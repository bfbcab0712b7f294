// W7 by colors of the mutex pool, each deleted after its last event.
// The number is not that of an allocator: the deque in each color costs more than the color.

#include "bench/lanes/mutex_pool.h"
#include "bench/w7_short_lived/workload.h"

int main(int argc, char** argv) {
  return bench::short_lived<bench::mutex_pool>({argc, argv, "mutex_pool"});
}
