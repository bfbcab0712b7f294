// W3 by Tartan, through strands; with variant apart both ends of a pair are homed on different workers, stealing off.
// The number is not the latency of a hop to a sleeping worker: 64 pairs keep the workers busy.

#include "bench/lanes/tartan_strand.h"
#include "bench/w3_hop/workload.h"

int main(int argc, char** argv) {
  return bench::hop<bench::tartan_strand>({argc, argv, "tartan_strand"});
}
