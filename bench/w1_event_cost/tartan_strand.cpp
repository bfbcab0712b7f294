// W1 by Tartan, through strands.
// The number is not the cost of the first event of an idle color, nor of one from another worker: a chain stays where it is.

#include "bench/lanes/tartan_strand.h"
#include "bench/w1_event_cost/workload.h"

int main(int argc, char** argv) {
  return bench::event_cost<bench::tartan_strand>({argc, argv, "tartan_strand"});
}
