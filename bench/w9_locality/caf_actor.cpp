// W9 by CAF: all messages that start a round are sent by one actor.
// The number is not about caches that cores share: a thief picks its victim by chance.

#include "bench/lanes/caf_actor.h"
#include "bench/w9_locality/workload.h"

int main(int argc, char** argv) {
  return bench::locality<bench::caf_actor>({argc, argv, "caf_actor"});
}
