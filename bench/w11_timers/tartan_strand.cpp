// W11 by Tartan: a timer object per timer, in the colors of 64 strands.
// The number is not that of one timer object which is set again and again, nor of post_after, which cannot be canceled.

#include "bench/w11_timers/tartan_timers.h"

int main(int argc, char** argv) {
  return bench::many_timers<bench::tartan_timers<bench::strand_colors>>({argc, argv, "tartan_strand"});
}
