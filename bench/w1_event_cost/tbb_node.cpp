// W1 by serial oneTBB function nodes.
// The number is not that of fair service: a node drains its queue before another gets the thread, see when the first chain ends.
// Nor is the message type-erased, as events are elsewhere: the node knows its type.

#include "bench/lanes/tbb_node.h"
#include "bench/w1_event_cost/workload.h"

int main(int argc, char** argv) {
  return bench::event_cost<bench::tbb_node>({argc, argv, "tbb_node"});
}
