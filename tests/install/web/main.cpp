#include <tartan/http_client/client.h>
#include <tartan/http_server/server.h>
#include <tartan/tartan.h>

#include <chrono>
#include <cstdio>
#include <string>

int main() {
  tartan::runtime rt;
  tartan::http::server site{rt};
  tartan::http::client web{rt};
  site.get("/", [](tartan::http::exchange&) { return tartan::http::reply::text("a page over HTTP"); });
  const auto at = site.listen("127.0.0.1:0");
  const auto ask = [&]() -> tartan::task<> {
    const auto answer = co_await web.get("http://localhost:" + std::to_string(at.port()) + "/");
    std::puts(answer ? answer->body.c_str() : answer.error().message().c_str());
    co_await site.close(std::chrono::seconds{10});
  };
  rt.spawn(ask).detach();
  rt.run_until_idle();
}
