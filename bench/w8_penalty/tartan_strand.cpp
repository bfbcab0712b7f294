// W8 by Tartan, through strands that are placed on the first worker anew in each round; variants no_steal and told.
// The number is not that of a program that tells costs and penalties, but in variant told, and with the papers' schedulers.

#include "bench/lanes/tartan_strand.h"
#include "bench/w8_penalty/workload.h"

int main(int argc, char** argv) {
  return bench::penalty<bench::tartan_strand>({argc, argv, "tartan_strand"});
}
