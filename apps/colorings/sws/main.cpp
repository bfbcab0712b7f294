// web-sws: the web server of Mely's paper in its colors. See docs/colorings.md.
#include "colorings/common/run_server.h"
#include "colorings/sws/server.h"

int main(int argc, char** argv) { return colorings::run_server<colorings::server>(argc, argv, "web-sws"); }
