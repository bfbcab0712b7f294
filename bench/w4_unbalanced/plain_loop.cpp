// W4 by one deque on one thread.
// The number is not an ideal: that is the same spins without any queue, measured in every run.

#include "bench/lanes/plain_loop.h"
#include "bench/w4_unbalanced/workload.h"

int main(int argc, char** argv) {
  return bench::unbalanced<bench::plain_loop>({argc, argv, "plain_loop"});
}
