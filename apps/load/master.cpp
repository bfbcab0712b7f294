#include <tartan/core/when_all.h>
#include <tartan/core/when_any.h>
#include <tartan/io/tcp.h>
#include <tartan/time/sleep.h>

#include <chrono>
#include <cstdio>
#include <deque>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "load/conduct.h"
#include "load/line_stream.h"
#include "load/place.h"
#include "load/server_watch.h"
#include "load/session.h"
#include "load/share.h"

namespace load {

namespace {

/// Color: the default color, and so is that of all streams.
class master {
 public:
  master(tartan::runtime& rt, const http_settings& asked)
      : asked_{asked}, shares_{divided(asked.load, asked.injectors)}, server_{process_tree{asked.servers}},
        door_{tartan::tcp::listen(rt, look_up(parse_place(asked.master)).front())} {}

  tartan::task<> run();

  [[nodiscard]] conducted result() const { return {sum_, server_.result()}; }

 private:
  void say(const char* what) const {
    if (asked_.progress) std::fprintf(stderr, "%s\n", what);
  }
  tartan::task<> gather();
  tartan::task<> tell_all(const char* step);
  tartan::task<> hear_all(const char* step);
  tartan::task<> wait_for_end();

  const http_settings& asked_;
  std::vector<share> shares_;
  server_watch server_;
  tartan::tcp::listener door_;
  std::deque<line_stream> others_;
  load_result sum_;
};

tartan::task<> master::run() {
  server_.before_all();
  co_await gather();
  for (std::size_t n = 0; n < others_.size(); ++n) co_await others_[n].send(shares_[n].to_json());
  co_await hear_all("ready");
  say("all clients are connected");
  const tartan::result<> warm = co_await tartan::sleep(std::chrono::duration<double>{asked_.load.warm_up});
  static_cast<void>(warm);
  co_await server_.prepare();
  server_.begin();
  co_await tell_all("begin");
  say("what is measured begins");
  co_await wait_for_end();
  server_.stop();
  co_await tell_all("end");
  server_.end();
  co_await tell_all("finish");
  for (line_stream& each : others_) {
    const std::string line = co_await each.receive_line();
    const std::optional<load_result> part = load_result::parse(line);
    if (!part) throw std::runtime_error{"an injector's result is not understood"};
    sum_.add(*part);
  }
}

tartan::task<> master::gather() {
  const tartan::result<tartan::address> where = door_.local_address();
  std::fprintf(stderr, "waiting for %zu injectors at %s\n", asked_.injectors, where ? where->to_string().c_str() : "");
  while (others_.size() != asked_.injectors) {
    tartan::result<tartan::tcp::stream> peer = co_await door_.accept(tartan::color{});
    if (!peer) throw std::runtime_error{"cannot accept injectors: " + peer.error().message()};
    others_.emplace_back(std::move(*peer));
  }
  door_.close();
  say("all injectors are here");
}

tartan::task<> master::tell_all(const char* step) {
  for (line_stream& each : others_) co_await each.send_step(step);
}

/// All at once: one that is lost must not wait for those before it.
tartan::task<> master::hear_all(const char* step) {
  std::vector<tartan::task<>> all;
  for (line_stream& each : others_) all.push_back(each.expect(step));
  static_cast<void>(co_await tartan::when_all(std::move(all)));
}

/// Where time is the end nobody says anything, unless he is lost.
tartan::task<> master::wait_for_end() {
  if (asked_.load.requests != 0) {
    co_await hear_all("complete");
  } else {
    const std::chrono::duration<double> time{asked_.load.seconds};
    static_cast<void>(co_await tartan::when_any(tartan::sleep(time), hear_all("complete")));
  }
}

}  // namespace

conducted conduct_others(const http_settings& asked) {
  tartan::runtime rt{runtime_options(asked.workers)};
  master all{rt, asked};
  run(rt, all.run());
  return all.result();
}

}  // namespace load
