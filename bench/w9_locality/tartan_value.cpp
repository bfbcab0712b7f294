// W9 by Tartan, through color values that are new in each round, posted from the first worker; variants no_steal and told.
// The number is not about pairs: all A start on the first worker, for values cannot be placed. B starts where its maker runs.

#include "bench/lanes/tartan_value.h"
#include "bench/w9_locality/workload.h"

int main(int argc, char** argv) {
  return bench::locality<bench::tartan_value>({argc, argv, "tartan_value"});
}
