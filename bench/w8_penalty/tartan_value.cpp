// W8 by Tartan, through color values that are new in each round, posted from the first worker; variant no_steal.
// The number is not that of a program that tells penalties: the default scheduler gets none here.

#include "bench/lanes/tartan_value.h"
#include "bench/w8_penalty/workload.h"

int main(int argc, char** argv) {
  return bench::penalty<bench::tartan_value>({argc, argv, "tartan_value"});
}
