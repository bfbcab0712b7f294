// W2 by Tartan, through color values; with variant batch by event_batch, a thousand at a time.
// The number is not a latency; and the look-up is of 10 000 colors that stay in the cache of the poster.

#include "bench/lanes/tartan_value.h"
#include "bench/w2_post_from_outside/workload.h"

int main(int argc, char** argv) {
  return bench::post_from_outside<bench::tartan_value>({argc, argv, "tartan_value"});
}
