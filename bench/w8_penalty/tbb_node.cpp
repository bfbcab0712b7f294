// W8 by serial oneTBB function nodes, posted from one handler.
// The number is not about penalties: a thread goes on with the task that it made last, so it keeps a chain by itself.

#include "bench/lanes/tbb_node.h"
#include "bench/w8_penalty/workload.h"

int main(int argc, char** argv) {
  return bench::penalty<bench::tbb_node>({argc, argv, "tbb_node"});
}
