#include <tartan/core/spawn.h>
#include <tartan/io/tcp.h>
#include <tartan/time/sleep.h>

#include <chrono>
#include <exception>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>

#include "load/conduct.h"
#include "load/injector.h"
#include "load/line_stream.h"
#include "load/place.h"
#include "load/progress.h"
#include "load/session.h"
#include "load/share.h"

namespace load {

namespace {

using namespace std::chrono_literals;

/// The master may be started a little later.
tartan::task<> find_master(tartan::address at, std::optional<line_stream>& into) {
  constexpr int attempts = 100;
  for (int n = 1; !into; ++n) {
    tartan::result<tartan::tcp::stream> made = co_await tartan::tcp::connect(at);
    if (made) {
      into.emplace(std::move(*made));
    } else if (n == attempts) {
      throw std::runtime_error{"cannot reach the master: " + made.error().message()};
    } else {
      const tartan::result<> slept = co_await tartan::sleep(100ms);
      static_cast<void>(slept);
    }
  }
}

tartan::task<> hear_load(tartan::address at, std::optional<line_stream>& master, share& into) {
  co_await find_master(at, master);
  const flat_json said = co_await master->receive();
  into = share::parse(said);
}

/// Of a number of requests, the last one says that it was. `master`: who may be told nothing else meanwhile.
tartan::task<> tell_completion(injector& all, line_stream& master) {
  const bool is_complete = co_await all.wait_for_end();
  try {
    if (is_complete) co_await master.send_step("complete");
  } catch (const std::runtime_error&) {
    // Who waits for the master's next word finds it out, too, and says it.
  }
}

tartan::task<> follow(injector& all, line_stream& master, bool progress) {
  tartan::join_handle<> shown;
  tartan::join_handle<> completion;
  std::exception_ptr wrong;
  if (progress) shown = tartan::spawn(show_progress(all));
  try {
    co_await all.start();
    co_await master.send_step("ready");
    co_await master.expect("begin");
    all.begin();
    if (all.settings().requests != 0) completion = tartan::spawn(tell_completion(all, master));
    co_await master.expect("end");
    if (completion) co_await completion.join();
    all.end();
    co_await master.expect("finish");
  } catch (...) {
    wrong = std::current_exception();
  }
  all.end();
  shown.cancel();
  completion.cancel();
  co_await all.finish();
  if (wrong) std::rethrow_exception(wrong);
}

}  // namespace

conducted conduct_joined(http_settings& asked) {
  tartan::runtime rt{runtime_options(asked.workers)};
  std::optional<line_stream> master;
  share mine;
  run(rt, hear_load(look_up(parse_place(asked.join)).front(), master, mine));
  raise_descriptor_limit(mine.load.clients);
  injector all{rt, mine.load, mine.first};
  run(rt, follow(all, *master, asked.progress));
  asked.load = mine.load;
  conducted result{all.result(), std::nullopt};
  run(rt, master->send_line(result.clients.to_line()));
  return result;
}

}  // namespace load
