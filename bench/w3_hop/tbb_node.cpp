// W3 by serial oneTBB function nodes.
// The number is not that of fair service, and a hop may run on the spot, as the task that the posting node returns.

#include "bench/lanes/tbb_node.h"
#include "bench/w3_hop/workload.h"

int main(int argc, char** argv) {
  return bench::hop<bench::tbb_node>({argc, argv, "tbb_node"});
}
