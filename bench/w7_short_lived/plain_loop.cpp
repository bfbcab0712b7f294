// W7 by one deque on one thread: three events, and no color.
// The number is not the cost of anything that begins or ends.

#include "bench/lanes/plain_loop.h"
#include "bench/w7_short_lived/workload.h"

int main(int argc, char** argv) {
  return bench::short_lived<bench::plain_loop>({argc, argv, "plain_loop"});
}
