// W1 by CAF: an actor per color that sends to itself.
// The number is not that of fair service: an actor empties its mailbox before another has its turn, unless scheduler.max-throughput is set.

#include "bench/lanes/caf_actor.h"
#include "bench/w1_event_cost/workload.h"

int main(int argc, char** argv) {
  return bench::event_cost<bench::caf_actor>({argc, argv, "caf_actor"});
}
