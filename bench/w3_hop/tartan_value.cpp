// W3 by Tartan, through color values.
// The number is not that of a hop between colors known to the runtime: each hop enters a color into the table and takes one out.

#include "bench/lanes/tartan_value.h"
#include "bench/w3_hop/workload.h"

int main(int argc, char** argv) {
  return bench::hop<bench::tartan_value>({argc, argv, "tartan_value"});
}
