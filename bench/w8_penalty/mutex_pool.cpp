// W8 by threads, one mutex and deques, posted from one handler.
// The number is not about penalties or stealing: there is one queue, and each event of a color may find another thread.

#include "bench/lanes/mutex_pool.h"
#include "bench/w8_penalty/workload.h"

int main(int argc, char** argv) {
  return bench::penalty<bench::mutex_pool>({argc, argv, "mutex_pool"});
}
