// W10 by serial oneTBB function nodes.
// The number is not about a worker that starts empty: all start in the task of one thread, and are stolen from there.

#include "bench/lanes/tbb_node.h"
#include "bench/w10_table_2/workload.h"

int main(int argc, char** argv) {
  return bench::table_2<bench::tbb_node>({argc, argv, "tbb_node"});
}
