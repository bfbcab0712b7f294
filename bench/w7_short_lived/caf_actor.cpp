// W7 by CAF: an actor is spawned, gets three messages, and its handle is dropped.
// The number is not that of an actor that quits, which would tell monitors and links; but it holds CAF's clock, a thread that each
// actor's end wakes, and with several workers it grows with the run, for CAF 0.17 walks the victim's whole list for each steal, and
// the maker is ahead of the rest. The end is seen up to 0.2 ms late.

#include "bench/lanes/caf_actor.h"
#include "bench/w7_short_lived/workload.h"

int main(int argc, char** argv) {
  return bench::short_lived<bench::caf_actor>({argc, argv, "caf_actor"});
}
