// W9 by serial oneTBB function nodes, posted from one handler.
// The number is not about caches that cores share: a thief picks its victim by chance.

#include "bench/lanes/tbb_node.h"
#include "bench/w9_locality/workload.h"

int main(int argc, char** argv) {
  return bench::locality<bench::tbb_node>({argc, argv, "tbb_node"});
}
