// W3 by the floor with colors: each hop makes the other color runnable, so each event has a turn of its own.
// The number is not a scheduler's: no other thread may post, nothing is shared, and memory for 129 events is all that there is.

#include "bench/lanes/ideal_colors.h"
#include "bench/w3_hop/workload.h"

int main(int argc, char** argv) {
  return bench::hop<bench::ideal_colors>({argc, argv, "ideal_colors"});
}
