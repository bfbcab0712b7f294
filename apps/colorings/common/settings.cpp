#include "colorings/common/settings.h"

#include <CLI/CLI.hpp>

namespace colorings {

std::optional<settings> read_settings(int argc, const char* const* argv, const char* program, bool counts_clients, int& exit_status) {
  settings with;
  CLI::App app{"Serves the files of a folder over HTTP/1.1, as a server of the papers did, to be measured: it has no time limits.\nThe one to be used is "
               "tartan-web.",
               program};
  app.add_option("--root", with.root, "The folder to serve")->type_name("DIR")->required()->check(CLI::ExistingDirectory);
  app.add_option("--listen", with.listen, "Where to listen; port 0: any that is free")->type_name("ADDR:PORT")->capture_default_str();
  app.add_option("--workers", with.workers, "Threads that run events; 0: one for each CPU")
      ->check(CLI::Range(0U, 1024U))->type_name("N")->capture_default_str();
  app.add_option("--cache-bytes", with.cache_bytes, "Memory for pages")->type_name("BYTES")->capture_default_str();
  if (counts_clients) {
    app.add_option("--max-clients", with.max_clients, "Clients at a time; more wait until one has gone")
        ->check(CLI::Range(std::size_t{1}, std::size_t{1'000'000}))
        ->type_name("N")
        ->capture_default_str();
  }
  app.footer("TARTAN_SCHEDULER in the environment chooses one of the papers' schedulers.");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& wrong) {
    exit_status = app.exit(wrong) == 0 ? 0 : 2;
    return std::nullopt;
  }
  return with;
}

}  // namespace colorings
