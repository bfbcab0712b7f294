// W5 by Tartan, through strands without a name; the handle lies in a vector and counts.
// The number is not the weight of a strand with a name, which has a side record.

#include "bench/lanes/tartan_strand.h"
#include "bench/w5_idle_color/workload.h"

int main(int argc, char** argv) {
  return bench::idle_color<bench::tartan_strand>({argc, argv, "tartan_strand"});
}
