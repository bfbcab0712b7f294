// W7 by a libevent loop on one thread: three events, and no color.
// The number is not the cost of an event that waits for a descriptor or a time.

#include "bench/lanes/event_loop.h"
#include "bench/w7_short_lived/workload.h"

int main(int argc, char** argv) {
  return bench::short_lived<bench::event_loop>({argc, argv, "event_loop"});
}
