// W4 by Tartan, through strands that are placed on the first worker anew in each round; variants no_steal and told; and fresh, which
// has new strands in each round instead.
// The number is not what a program sees whose colors stay where they last ran: here every round starts unbalanced.

#include "bench/lanes/tartan_strand.h"
#include "bench/w4_unbalanced/workload.h"

int main(int argc, char** argv) {
  return bench::unbalanced<bench::tartan_strand>({argc, argv, "tartan_strand"});
}
