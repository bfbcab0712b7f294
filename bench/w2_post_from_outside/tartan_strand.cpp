// W2 by Tartan, through strands; with variant batch by event_batch, a thousand at a time.
// The number is not a latency, and the batch's is not that of posting many events to few colors: neighbors differ in color here.

#include "bench/lanes/tartan_strand.h"
#include "bench/w2_post_from_outside/workload.h"

int main(int argc, char** argv) {
  return bench::post_from_outside<bench::tartan_strand>({argc, argv, "tartan_strand"});
}
