// tartan-load: puts a load on a web server.
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <optional>
#include <string>
#include <utility>

#include "common/one_line.h"
#include "load/conduct.h"
#include "load/file_set.h"
#include "load/result.h"
#include "load/result_file.h"
#include "load/settings.h"

namespace {

/// What minutes have measured is not lost with its file.
void write(load::result_file& file, const std::string& json) {
  try {
    file.write(json);
  } catch (const std::exception&) {
    std::fputs(json.c_str(), stdout);
    throw;
  }
}

load::conducted conduct(load::http_settings& asked) {
  if (!asked.join.empty()) return load::conduct_joined(asked);
  return asked.master.empty() ? load::conduct_alone(asked) : load::conduct_others(asked);
}

int run_http(load::http_settings asked) {
  std::optional<load::result_file> file;
  if (!asked.json.empty() && asked.json != "-") file.emplace(asked.json);
  const load::conducted all = conduct(asked);
  const std::string json = load::to_json(all.clients, all.server, asked) + "\n";
  std::fputs(asked.json == "-" ? json.c_str() : load::to_text(all.clients, all.server, asked).c_str(), stdout);
  std::fflush(stdout);  // which may be the file's other name
  if (file) write(*file, json);
  const std::string wrong = load::what_went_wrong(all.clients, all.server);
  if (wrong.empty()) return 0;
  std::fprintf(stderr, "tartan-load: exit status 1: %s\n", wrong.c_str());
  return 1;
}

void write_set(const load::make_set_settings& asked) {
  load::make_set(asked.folder, asked.what);
  std::uint64_t bytes = 0;
  for (const load::set_file& each : load::files_of(asked.what)) bytes += each.bytes;
  std::printf("%s: %llu files, %llu bytes, seed %llu\n", asked.folder.c_str(), static_cast<unsigned long long>(asked.what.files),
              static_cast<unsigned long long>(bytes), static_cast<unsigned long long>(asked.what.seed));
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // as no room is: an error of the write
  try {
    load::command_line command = load::read_command_line(argc, argv);
    if (command.http) return run_http(std::move(*command.http));
    if (command.make_set) write_set(*command.make_set);
    return command.exit_status;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "tartan-load: %s\n", tartan::apps::one_line(e.what()).c_str());
    return 2;
  }
}
