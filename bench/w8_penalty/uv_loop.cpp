// W8 by a libuv loop on one thread.
// The number is not that of the best order for a cache: first in, first out makes all arrays before it reads the first.

#include "bench/lanes/uv_loop.h"
#include "bench/w8_penalty/workload.h"

int main(int argc, char** argv) {
  return bench::penalty<bench::uv_idle_loop>({argc, argv, "uv_loop"});
}
