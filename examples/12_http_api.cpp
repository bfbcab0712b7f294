// Shows: an HTTP server whose handlers share notes without a lock, and a stream of events that tells of each new one.
// Run:   build/release/examples/12_http_api
// See:   what a client is answered, and what another one hears that watches.
#include <tartan/http_server/server.h>
#include <tartan/tartan.h>

#include <chrono>
#include <cstdio>
#include <functional>
#include <string>

namespace http = tartan::http;
struct board {
  std::string notes;  // touched in the color of the route only
  tartan::broadcast<std::string> news{tartan::capacity{16}};
};

tartan::task<http::reply> add(board& of, http::exchange& x) {
  const auto text = co_await x.body().read_all(1000);
  if (!text) co_return http::reply::of_error(text.error());
  of.notes += *text + "\n";
  of.news.send(*text);
  co_return http::reply::text("all notes:\n" + of.notes, http::status::created);
}

tartan::task<> tell(board& of, http::exchange& x) {
  auto news = of.news.subscribe();
  auto events = co_await x.begin_events();
  while (events) {
    const auto note = co_await news.receive();  // is canceled when the client has gone
    if (!note || !co_await events->send({.event = "note", .data = *note})) co_return;
  }
}

/// Sends a request, and prints a part of what comes.
tartan::task<> ask(tartan::tcp::stream& over, std::string request, std::string from, std::string to) {
  std::string heard;
  static_cast<void>(co_await over.write(request));
  const auto size = co_await over.read_until(heard, to, 1000);
  if (size && !from.empty()) std::printf("%s", heard.substr(heard.find(from)).c_str());
}

tartan::task<> visit(http::server& site, tartan::address at) {
  auto watches = co_await tartan::tcp::connect(at);
  auto adds = co_await tartan::tcp::connect(at);
  co_await ask(*watches, "GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n", "", "\r\n\r\n");
  co_await ask(*adds, "POST /notes HTTP/1.1\r\nHost: localhost\r\nContent-Length: 7\r\n\r\nbuy tea", "all", "tea\n");
  co_await ask(*watches, "", "event", "tea\n\n");
  co_await site.close(std::chrono::seconds{10});
}

int main() {
  tartan::runtime rt;
  board notes;
  http::server site{rt};
  site.post("/notes", [&](http::exchange& x) { return add(notes, x); }).in(tartan::color{7});  // one at a time
  site.get("/events", [&](http::exchange& x) { return tell(notes, x); });
  rt.spawn(visit, std::ref(site), site.listen("127.0.0.1:0")).detach();
  rt.run_until_idle();
}
