// W10 by one deque on one thread.
// The number is not the price of an event: most of it is the computation, which all contenders have.

#include "bench/lanes/plain_loop.h"
#include "bench/w10_table_2/workload.h"

int main(int argc, char** argv) {
  return bench::table_2<bench::plain_loop>({argc, argv, "plain_loop"});
}
