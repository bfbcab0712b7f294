// web-sws-serial: the web server of Mely's paper on one core. See docs/colorings.md.
#include "colorings/common/run_server.h"
#include "colorings/sws_serial/server.h"

int main(int argc, char** argv) { return colorings::run_server<colorings::server>(argc, argv, "web-sws-serial"); }
