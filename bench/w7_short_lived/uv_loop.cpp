// W7 by a libuv loop on one thread: three events, and no color.
// The number is not the cost of a handle that begins and ends.

#include "bench/lanes/uv_loop.h"
#include "bench/w7_short_lived/workload.h"

int main(int argc, char** argv) {
  return bench::short_lived<bench::uv_idle_loop>({argc, argv, "uv_loop"});
}
