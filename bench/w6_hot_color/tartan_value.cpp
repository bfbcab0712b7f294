// W6 by Tartan, through color values.
// The number is not the delay in a program whose load is below what it could serve: here 256 events are always outstanding, and the
// median delay follows from the rate alone.

#include "bench/lanes/tartan_value.h"
#include "bench/w6_hot_color/workload.h"

int main(int argc, char** argv) {
  return bench::hot_color<bench::tartan_value>({argc, argv, "tartan_value"});
}
