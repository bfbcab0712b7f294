// W10 by a libuv loop on one thread.
// The number is not the price of an event: most of it is the computation, which all contenders have.

#include "bench/lanes/uv_loop.h"
#include "bench/w10_table_2/workload.h"

int main(int argc, char** argv) {
  return bench::table_2<bench::uv_idle_loop>({argc, argv, "uv_loop"});
}
