// W2 by threads, one mutex and deques; with variant batch a thousand events under one lock.
// The number is not the latency of a post into a sleeping pool, and the batch's is not one at which the poster waits for nobody.

#include "bench/lanes/mutex_pool.h"
#include "bench/w2_post_from_outside/workload.h"

int main(int argc, char** argv) {
  return bench::post_from_outside<bench::mutex_pool>({argc, argv, "mutex_pool"});
}
