// W7 by serial oneTBB function nodes, in rounds of 10 000: a node must not end while its graph runs.
// The number is not that of nodes that come and go one by one, which oneTBB does not offer.

#include "bench/lanes/tbb_node.h"
#include "bench/w7_short_lived/workload.h"

int main(int argc, char** argv) {
  return bench::short_lived<bench::tbb_node>({argc, argv, "tbb_node"});
}
