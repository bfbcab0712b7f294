// W5 by Tartan, through color values.
// The number is not the weight of a color with pending events, nor of one that was given a name.

#include "bench/lanes/tartan_value.h"
#include "bench/w5_idle_color/workload.h"

int main(int argc, char** argv) {
  return bench::idle_color<bench::tartan_value>({argc, argv, "tartan_value"});
}
