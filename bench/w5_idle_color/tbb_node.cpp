// W5 by serial oneTBB function nodes; the node lies in a deque and counts.
// The number is not the weight of a node in a graph with edges; these have none.

#include "bench/lanes/tbb_node.h"
#include "bench/w5_idle_color/workload.h"

int main(int argc, char** argv) {
  return bench::idle_color<bench::tbb_node>({argc, argv, "tbb_node"});
}
