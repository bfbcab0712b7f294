// W4 by a libevent loop on one thread.
// The number is not that of several loops, over which one would have to spread the work by hand.

#include "bench/lanes/event_loop.h"
#include "bench/w4_unbalanced/workload.h"

int main(int argc, char** argv) {
  return bench::unbalanced<bench::event_loop>({argc, argv, "event_loop"});
}
