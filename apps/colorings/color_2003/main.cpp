// web-2003: the web server of libasync-smp's paper in its colors. See docs/colorings.md.
#include "colorings/common/run_server.h"
#include "colorings/color_2003/server.h"

int main(int argc, char** argv) { return colorings::run_server<colorings::server>(argc, argv, "web-2003"); }
