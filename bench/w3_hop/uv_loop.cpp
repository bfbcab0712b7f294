// W3 by a libuv loop on one thread, which knows no colors, so this is W1 again.
// The number is not that of a hop: there is nowhere to hop to.

#include "bench/lanes/uv_loop.h"
#include "bench/w3_hop/workload.h"

int main(int argc, char** argv) {
  return bench::hop<bench::uv_idle_loop>({argc, argv, "uv_loop"});
}
