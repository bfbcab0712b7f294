// W3 by one deque on one thread: the floor, which knows no lanes, so this is W1 again.
// The number is not that of a hop: there is nowhere to hop to.

#include "bench/lanes/plain_loop.h"
#include "bench/w3_hop/workload.h"

int main(int argc, char** argv) {
  return bench::hop<bench::plain_loop>({argc, argv, "plain_loop"});
}
