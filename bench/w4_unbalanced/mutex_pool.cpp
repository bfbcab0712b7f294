// W4 by threads, one mutex and deques, posted from one handler.
// The number is not about stealing: there is one queue, and every thread takes from it.

#include "bench/lanes/mutex_pool.h"
#include "bench/w4_unbalanced/workload.h"

int main(int argc, char** argv) {
  return bench::unbalanced<bench::mutex_pool>({argc, argv, "mutex_pool"});
}
