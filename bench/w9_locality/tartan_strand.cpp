// W9 by Tartan, through strands that are placed anew in each round; variants no_steal and told.
// The number is not about pairs with fewer than 4 workers, nor where the kernel puts workers elsewhere than in pairs: no thread is
// bound. B goes where its maker was placed, even if that was stolen.

#include "bench/lanes/tartan_strand.h"
#include "bench/w9_locality/workload.h"

int main(int argc, char** argv) {
  return bench::locality<bench::tartan_strand>({argc, argv, "tartan_strand"});
}
