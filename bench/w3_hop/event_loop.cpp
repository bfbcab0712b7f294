// W3 by a libevent loop on one thread, which knows no colors, so this is W1 again.
// The number is not that of a hop: there is nowhere to hop to.

#include "bench/lanes/event_loop.h"
#include "bench/w3_hop/workload.h"

int main(int argc, char** argv) {
  return bench::hop<bench::event_loop>({argc, argv, "event_loop"});
}
