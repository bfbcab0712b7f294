// W5 by CAF actors; the handle lies in a vector and counts.
// The number is not that of an actor that was never used, nor of one with state: this one has a behavior that captures a pointer.

#include "bench/lanes/caf_actor.h"
#include "bench/w5_idle_color/workload.h"

int main(int argc, char** argv) {
  return bench::idle_color<bench::caf_actor>({argc, argv, "caf_actor"});
}
