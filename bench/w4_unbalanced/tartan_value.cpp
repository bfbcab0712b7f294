// W4 by Tartan, through color values that are new in each round, posted from the first worker; variants no_steal and told.
// The number is not what a program sees whose colors stay where they last ran: here every round starts unbalanced.

#include "bench/lanes/tartan_value.h"
#include "bench/w4_unbalanced/workload.h"

int main(int argc, char** argv) {
  return bench::unbalanced<bench::tartan_value>({argc, argv, "tartan_value"});
}
