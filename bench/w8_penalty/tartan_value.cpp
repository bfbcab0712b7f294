// W8 by Tartan, through color values that are new in each round, posted from the first worker; variants no_steal and told.
// The number is not that of a program that tells costs and penalties, but in variant told, and with the papers' schedulers.

#include "bench/lanes/tartan_value.h"
#include "bench/w8_penalty/workload.h"

int main(int argc, char** argv) {
  return bench::penalty<bench::tartan_value>({argc, argv, "tartan_value"});
}
