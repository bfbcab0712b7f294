// W5 by a color of the mutex pool; it lies in a deque and counts.
// The number is not the least that one could do: an empty std::deque of libstdc++ takes 576 bytes from the heap, an own list would take none.

#include "bench/lanes/mutex_pool.h"
#include "bench/w5_idle_color/workload.h"

int main(int argc, char** argv) {
  return bench::idle_color<bench::mutex_pool>({argc, argv, "mutex_pool"});
}
