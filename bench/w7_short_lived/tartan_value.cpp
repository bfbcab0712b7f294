// W7 by Tartan, through color values that nobody used before; variant no_steal.
// The number is not the cost of handlers: they are empty, so a steal can hardly pay.

#include "bench/lanes/tartan_value.h"
#include "bench/w7_short_lived/workload.h"

int main(int argc, char** argv) {
  return bench::short_lived<bench::tartan_value>({argc, argv, "tartan_value"});
}
