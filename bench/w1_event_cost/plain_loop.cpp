// W1 by one deque on one thread: the floor.
// The number is not a scheduler's: no other thread may post, nothing is serialized, and the deque allocates once for 8 events.

#include "bench/lanes/plain_loop.h"
#include "bench/w1_event_cost/workload.h"

int main(int argc, char** argv) {
  return bench::event_cost<bench::plain_loop>({argc, argv, "plain_loop"});
}
