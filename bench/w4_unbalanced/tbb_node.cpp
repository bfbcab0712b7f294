// W4 by serial oneTBB function nodes, posted from one handler.
// The number is not that of TBB's favorite, a parallel loop, which would be near the ideal here.

#include "bench/lanes/tbb_node.h"
#include "bench/w4_unbalanced/workload.h"

int main(int argc, char** argv) {
  return bench::unbalanced<bench::tbb_node>({argc, argv, "tbb_node"});
}
