// W1 by a libevent loop on one thread: each post allocates an event and makes it active.
// The number is not that of an event that is made once and activated again, which would carry no callable of its own.

#include "bench/lanes/event_loop.h"
#include "bench/w1_event_cost/workload.h"

int main(int argc, char** argv) {
  return bench::event_cost<bench::event_loop>({argc, argv, "event_loop"});
}
