// W8 by Tartan, through strands that are placed on the first worker anew in each round; variant no_steal.
// The number is not that of a program that tells penalties: the default scheduler gets none here.

#include "bench/lanes/tartan_strand.h"
#include "bench/w8_penalty/workload.h"

int main(int argc, char** argv) {
  return bench::penalty<bench::tartan_strand>({argc, argv, "tartan_strand"});
}
