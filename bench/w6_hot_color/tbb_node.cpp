// W6 by serial oneTBB function nodes.
// The number is not that of fair service: a node goes on with what it has, and tasks that a thread made itself come first.

#include "bench/lanes/tbb_node.h"
#include "bench/w6_hot_color/workload.h"

int main(int argc, char** argv) {
  return bench::hot_color<bench::tbb_node>({argc, argv, "tbb_node"});
}
