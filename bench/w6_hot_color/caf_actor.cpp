// W6 by CAF.
// The number is not that of fair service: an actor goes on as long as there are messages, unless scheduler.max-throughput is set.

#include "bench/lanes/caf_actor.h"
#include "bench/w6_hot_color/workload.h"

int main(int argc, char** argv) {
  return bench::hot_color<bench::caf_actor>({argc, argv, "caf_actor"});
}
