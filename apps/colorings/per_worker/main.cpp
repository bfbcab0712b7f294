// web-per-worker: the same server with a color for each client and caches for each worker. See docs/colorings.md.
#include "colorings/common/run_server.h"
#include "colorings/per_worker/server.h"

int main(int argc, char** argv) { return colorings::run_server<colorings::server>(argc, argv, "web-per-worker"); }
