// W8 by a libevent loop on one thread.
// The number is not that of the best order for a cache: first in, first out makes all arrays before it reads the first.

#include "bench/lanes/event_loop.h"
#include "bench/w8_penalty/workload.h"

int main(int argc, char** argv) {
  return bench::penalty<bench::event_loop>({argc, argv, "event_loop"});
}
