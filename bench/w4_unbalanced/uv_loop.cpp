// W4 by a libuv loop on one thread.
// The number is not what libuv is for: such work would go to uv_queue_work, which runs it in no order.

#include "bench/lanes/uv_loop.h"
#include "bench/w4_unbalanced/workload.h"

int main(int argc, char** argv) {
  return bench::unbalanced<bench::uv_idle_loop>({argc, argv, "uv_loop"});
}
