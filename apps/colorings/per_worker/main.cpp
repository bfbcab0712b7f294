// web-per-worker: the same server with a color for each client and caches for each worker. See docs/colorings.md.
#include "apps/colorings/common/run_server.h"
#include "server.h"

int main(int argc, char** argv) { return colorings::run_server<colorings::server>(argc, argv, "web-per-worker"); }
