// W9 by threads, one mutex and deques, posted from one handler.
// The number is not about caches that cores share: there is one queue, and no thread has neighbors.

#include "bench/lanes/mutex_pool.h"
#include "bench/w9_locality/workload.h"

int main(int argc, char** argv) {
  return bench::locality<bench::mutex_pool>({argc, argv, "mutex_pool"});
}
