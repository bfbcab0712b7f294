// W1 by threads, one mutex and deques, as one would write it by hand.
// The number is not that of a good queue between threads, nor of a handler that does anything: the threads only fight for the lock.

#include "bench/lanes/mutex_pool.h"
#include "bench/w1_event_cost/workload.h"

int main(int argc, char** argv) {
  return bench::event_cost<bench::mutex_pool>({argc, argv, "mutex_pool"});
}
