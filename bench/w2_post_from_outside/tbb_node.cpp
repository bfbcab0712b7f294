// W2 by serial oneTBB function nodes in an arena without a place for the poster until it waits.
// The number is not that of oneTBB's usual pattern, in which the thread that posts is itself a worker.

#include "bench/lanes/tbb_node.h"
#include "bench/w2_post_from_outside/workload.h"

int main(int argc, char** argv) {
  return bench::post_from_outside<bench::tbb_node>({argc, argv, "tbb_node"});
}
