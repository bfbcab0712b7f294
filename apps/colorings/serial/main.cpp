// web-serial: the web server of libasync-smp's paper on one core. See docs/colorings.md.
#include "colorings/common/run_server.h"
#include "colorings/serial/server.h"

int main(int argc, char** argv) { return colorings::run_server<colorings::server>(argc, argv, "web-serial"); }
