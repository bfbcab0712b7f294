// W3 by CAF: an actor per color that sends to another.
// The number is not that of request and response, which keep a record of each request.

#include "bench/lanes/caf_actor.h"
#include "bench/w3_hop/workload.h"

int main(int argc, char** argv) {
  return bench::hop<bench::caf_actor>({argc, argv, "caf_actor"});
}
