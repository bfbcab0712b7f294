// W1 by Tartan, through color values.
// The number is not the cost of finding an idle color: the color is running when its successor is posted.

#include "bench/lanes/tartan_value.h"
#include "bench/w1_event_cost/workload.h"

int main(int argc, char** argv) {
  return bench::event_cost<bench::tartan_value>({argc, argv, "tartan_value"});
}
