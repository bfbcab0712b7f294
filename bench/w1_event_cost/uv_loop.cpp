// W1 by a libuv loop on one thread.
// The number is not that of a queue of libuv's, which has none: it is a deque, and a turn of the loop with its poll for every 64 events.

#include "bench/lanes/uv_loop.h"
#include "bench/w1_event_cost/workload.h"

int main(int argc, char** argv) {
  return bench::event_cost<bench::uv_idle_loop>({argc, argv, "uv_loop"});
}
