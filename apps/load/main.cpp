// tartan-load: puts a load on a web server.
#include <sys/resource.h>
#include <tartan/core/runtime.h>
#include <tartan/core/spawn.h>
#include <tartan/time/sleep.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>

#include "file_set.h"
#include "injector.h"
#include "process_tree.h"
#include "result.h"
#include "settings.h"

namespace {

/// What the system gives by default is made for programs that use select().
void raise_descriptor_limit(std::uint64_t clients) {
  constexpr std::uint64_t besides = 64;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) ::getrlimit(RLIMIT_NOFILE, &limit);
  if (clients + besides <= limit.rlim_cur) return;
  throw std::runtime_error{"--clients " + std::to_string(clients) + " does not fit: this process may open " + std::to_string(limit.rlim_cur) +
                           " files (ulimit -Hn)"};
}

tartan::task<> conduct(load::injector& all, const load::process_tree& server, load::server_result& about) {
  about.before = server.memory();
  co_await all.start();
  const tartan::result<> warm = co_await tartan::sleep(std::chrono::duration<double>{all.settings().warm_up});
  static_cast<void>(warm);
  const load::tree_usage before = server.usage();
  all.begin();
  co_await all.wait_for_end();
  all.end();
  about.used = load::between(before, server.usage());
  about.after = server.memory();
  co_await all.finish();
}

void write_file(const std::string& path, const std::string& text) {
  std::FILE* const file = std::fopen(path.c_str(), "we");
  const bool is_written = file != nullptr && std::fputs(text.c_str(), file) >= 0;
  const bool is_closed = file != nullptr && std::fclose(file) == 0;
  if (!is_written || !is_closed) throw std::runtime_error{"cannot write " + path};
}

int show(const load::load_result& result, const std::optional<load::server_result>& server, const load::http_settings& asked) {
  const std::string json = load::to_json(result, server, asked) + "\n";
  std::fputs(asked.json == "-" ? json.c_str() : load::to_text(result, server, asked).c_str(), stdout);
  if (!asked.json.empty() && asked.json != "-") write_file(asked.json, json);
  return result.has_errors() ? 1 : 0;
}

int run_http(const load::http_settings& asked) {
  raise_descriptor_limit(asked.load.clients);
  const load::process_tree server{asked.servers};
  if (const pid_t gone = server.missing(); gone != 0) throw std::runtime_error{"--server " + std::to_string(gone) + ": no such process"};
  tartan::options options;
  options.workers = asked.workers;
  tartan::runtime rt{options};
  load::injector all{rt, asked.load};
  load::server_result about;
  rt.spawn(conduct(all, server, about));
  rt.run_until_idle();
  return show(all.result(), server.empty() ? std::nullopt : std::optional{about}, asked);
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  try {
    const load::command_line command = load::read_command_line(argc, argv);
    if (command.http) return run_http(*command.http);
    if (command.make_set) load::make_set(command.make_set->folder, command.make_set->what);
    return command.exit_status;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "tartan-load: %s\n", e.what());
    return 2;
  }
}
