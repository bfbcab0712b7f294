// W4 by CAF: all messages are sent by one actor.
// The number is not that of actors which are spawned for their work and gone with it: these wait for the next round.
// Nor is it that of stealing from a short queue: CAF 0.17 walks the whole list of the victim, under its locks, to take the last entry.

#include "bench/lanes/caf_actor.h"
#include "bench/w4_unbalanced/workload.h"

int main(int argc, char** argv) {
  return bench::unbalanced<bench::caf_actor>({argc, argv, "caf_actor"});
}
