// web-2003: the web server of libasync-smp's paper in its colors. See docs/colorings.md.
#include "apps/colorings/common/run_server.h"
#include "server.h"

int main(int argc, char** argv) { return colorings::run_server<colorings::server>(argc, argv, "web-2003"); }
