// W6 by a libevent loop on one thread.
// The number is not about a hot color: there are no colors, and one worker's bound is one.

#include "bench/lanes/event_loop.h"
#include "bench/w6_hot_color/workload.h"

int main(int argc, char** argv) {
  return bench::hot_color<bench::event_loop>({argc, argv, "event_loop"});
}
