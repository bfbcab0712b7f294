// The gate's sweep by Tartan, through strands that are placed.
// The number is not that of one event: it is only there to be compared with the same run without stealing.

#include "bench/gate_cost_sweep/workload.h"
#include "bench/lanes/tartan_strand.h"

int main(int argc, char** argv) {
  return bench::cost_sweep<bench::tartan_strand>({argc, argv, "tartan_strand"});
}
