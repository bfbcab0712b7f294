// W3 by threads, one mutex and deques.
// The number is not that of two threads that wait for each other: 64 pairs keep every thread busy, if only with the lock.

#include "bench/lanes/mutex_pool.h"
#include "bench/w3_hop/workload.h"

int main(int argc, char** argv) {
  return bench::hop<bench::mutex_pool>({argc, argv, "mutex_pool"});
}
