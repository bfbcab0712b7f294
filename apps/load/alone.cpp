#include <tartan/core/spawn.h>
#include <tartan/core/when_any.h>
#include <tartan/io/signal_set.h>
#include <tartan/time/sleep.h>

#include <chrono>
#include <csignal>
#include <exception>

#include "load/conduct.h"
#include "load/injector.h"
#include "load/progress.h"
#include "load/server_watch.h"
#include "load/session.h"

namespace load {

namespace {

tartan::task<> measure_load(injector& all, server_watch& server) {
  co_await all.start();
  const tartan::result<> warm = co_await tartan::sleep(std::chrono::duration<double>{all.settings().warm_up});
  if (!warm) co_return;
  co_await server.prepare();
  server.begin();
  all.begin();
  static_cast<void>(co_await all.wait_for_end());
}

tartan::task<> conduct(injector& all, server_watch& server, tartan::signal_set& signals, bool progress) {
  tartan::join_handle<> shown;
  std::exception_ptr wrong;
  if (progress) shown = tartan::spawn(show_progress(all));
  server.before_all();
  try {
    static_cast<void>(co_await tartan::when_any(measure_load(all, server), signals.next()));
  } catch (...) {
    wrong = std::current_exception();  // the clients have to end all the same
  }
  all.end();
  server.stop();
  server.end();
  shown.cancel();
  co_await all.finish();
  if (wrong) std::rethrow_exception(wrong);
}

}  // namespace

conducted conduct_alone(const http_settings& asked) {
  raise_descriptor_limit(asked.load.clients);
  server_watch server{process_tree{asked.servers}};
  tartan::runtime rt{runtime_options(asked.workers)};
  tartan::signal_set signals{rt, {SIGINT, SIGTERM}};
  injector all{rt, asked.load};
  run(rt, conduct(all, server, signals, asked.progress));
  return {all.result(), server.result()};
}

}  // namespace load
