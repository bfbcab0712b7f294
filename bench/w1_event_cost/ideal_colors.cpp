// W1 by the floor with colors.
// The number is not a scheduler's: no other thread may post, nothing is shared, and memory for 65 events is all that there is.

#include "bench/lanes/ideal_colors.h"
#include "bench/w1_event_cost/workload.h"

int main(int argc, char** argv) {
  return bench::event_cost<bench::ideal_colors>({argc, argv, "ideal_colors"});
}
