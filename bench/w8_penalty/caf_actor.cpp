// W8 by CAF: all messages that start a round are sent by one actor.
// The number is not about penalties: an actor goes on as long as there are messages, so a chain that has begun is read to its end by one thread.

#include "bench/lanes/caf_actor.h"
#include "bench/w8_penalty/workload.h"

int main(int argc, char** argv) {
  return bench::penalty<bench::caf_actor>({argc, argv, "caf_actor"});
}
