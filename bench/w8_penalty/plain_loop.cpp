// W8 by one deque on one thread.
// The number is not that of the best order for a cache: first in, first out makes all arrays before it reads the first.

#include "bench/lanes/plain_loop.h"
#include "bench/w8_penalty/workload.h"

int main(int argc, char** argv) {
  return bench::penalty<bench::plain_loop>({argc, argv, "plain_loop"});
}
