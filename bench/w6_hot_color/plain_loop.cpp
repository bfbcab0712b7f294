// W6 by one deque on one thread: the ideal schedule, apart from its costs.
// The number is not about a hot color: there are no colors, and one worker's bound is one.

#include "bench/lanes/plain_loop.h"
#include "bench/w6_hot_color/workload.h"

int main(int argc, char** argv) {
  return bench::hot_color<bench::plain_loop>({argc, argv, "plain_loop"});
}
