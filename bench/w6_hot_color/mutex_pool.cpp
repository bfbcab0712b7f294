// W6 by threads, one mutex and deques.
// The number is not that of a pool that spares its lock: a color goes to the end of the queue after each event, which is the fairest order and the
// dearest one.

#include "bench/lanes/mutex_pool.h"
#include "bench/w6_hot_color/workload.h"

int main(int argc, char** argv) {
  return bench::hot_color<bench::mutex_pool>({argc, argv, "mutex_pool"});
}
