// W2 by a mutex, a condition variable and two deques that are swapped: the simplest loop with posts from outside.
// The number is not a floor for one thread: two take part, and the lock is held only for an append.

#include "bench/lanes/plain_loop.h"
#include "bench/w2_post_from_outside/workload.h"

int main(int argc, char** argv) {
  return bench::post_from_outside<bench::locked_loop>({argc, argv, "plain_loop"});
}
