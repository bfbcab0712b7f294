// W10 by Tartan, through strands that are placed so that the last worker starts empty; variant no_steal.
// The number is not comparable with the paper's: its machine was of 2003. Nor with 4 workers on fewer CPUs is it about parallelism.

#include "bench/lanes/tartan_strand.h"
#include "bench/w10_table_2/workload.h"

int main(int argc, char** argv) {
  return bench::table_2<bench::tartan_strand>({argc, argv, "tartan_strand"});
}
