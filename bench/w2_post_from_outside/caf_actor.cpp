// W2 by CAF: anon_send from a thread that is no worker.
// The number is not that of the mailbox alone: an idle actor is scheduled for nearly each message. Its end is seen up to 0.2 ms late.

#include "bench/lanes/caf_actor.h"
#include "bench/w2_post_from_outside/workload.h"

int main(int argc, char** argv) {
  return bench::post_from_outside<bench::caf_actor>({argc, argv, "caf_actor"});
}
