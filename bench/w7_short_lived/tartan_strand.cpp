// W7 by Tartan, through strands, each destroyed as soon as its events are posted; variant no_steal.
// The number is not the cost of handlers: they are empty, so a steal can hardly pay.

#include "bench/lanes/tartan_strand.h"
#include "bench/w7_short_lived/workload.h"

int main(int argc, char** argv) {
  return bench::short_lived<bench::tartan_strand>({argc, argv, "tartan_strand"});
}
