// W9 by a libuv loop on one thread.
// The number is not that of a merge sort: B and C wait until all 100 arrays are made.

#include "bench/lanes/uv_loop.h"
#include "bench/w9_locality/workload.h"

int main(int argc, char** argv) {
  return bench::locality<bench::uv_idle_loop>({argc, argv, "uv_loop"});
}
