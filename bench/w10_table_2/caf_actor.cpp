// W10 by CAF.
// The number is not about a worker that starts empty: all actors start at the one whose thread sends to them, and are stolen from there.

#include "bench/lanes/caf_actor.h"
#include "bench/w10_table_2/workload.h"

int main(int argc, char** argv) {
  return bench::table_2<bench::caf_actor>({argc, argv, "caf_actor"});
}
