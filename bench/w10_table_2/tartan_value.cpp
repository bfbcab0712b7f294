// W10 by Tartan, through color values; variant no_steal.
// The number is not that of one empty worker among many: a new color starts where it is posted, so all but the first start empty.

#include "bench/lanes/tartan_value.h"
#include "bench/w10_table_2/workload.h"

int main(int argc, char** argv) {
  return bench::table_2<bench::tartan_value>({argc, argv, "tartan_value"});
}
