// W2 by a libuv loop on one thread: a deque behind a mutex, and uv_async_send at each post.
// The number is not that of a system call per post: a loop that was told once and has not come yet is not told again.

#include "bench/lanes/uv_loop.h"
#include "bench/w2_post_from_outside/workload.h"

int main(int argc, char** argv) {
  return bench::post_from_outside<bench::uv_async_loop>({argc, argv, "uv_loop"});
}
