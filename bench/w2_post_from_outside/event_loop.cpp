// W2 by a libevent loop on one thread: event_active from another one, under libevent's lock.
// The number is not that of a deque and a pipe, with which one can do without libevent's queue.

#include "bench/lanes/event_loop.h"
#include "bench/w2_post_from_outside/workload.h"

int main(int argc, char** argv) {
  return bench::post_from_outside<bench::event_loop>({argc, argv, "event_loop"});
}
