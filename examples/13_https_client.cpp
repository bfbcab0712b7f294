// Shows: an HTTPS client that asks by host name, verifies the server, keeps its connections and follows redirects.
// Run:   build/release/examples/13_https_client
// See:   what a server in the same program answers; behind 13_https_client https://example.org/: what that one does.
#include <tartan/http_client/client.h>
#include <tartan/http_server/server.h>
#include <tartan/tartan.h>
#include <tartan/tls/self_signed.h>
#include <tartan/tls/server.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <string>

namespace http = tartan::http;

tartan::task<> fetch(http::client& web, std::string url) {
  const auto answer = co_await web.get(url);
  if (!answer) co_return static_cast<void>(std::printf("%s\n", answer.error().message().c_str()));
  const auto status = static_cast<unsigned>(answer->status);
  std::printf("%u from %s: %s\n", status, answer->from.target.c_str(), answer->body.c_str());
}

tartan::task<> post(http::client& web, std::string url) {
  http::client_request order{"POST", url};
  order.body("tea", "text/plain").set("Authorization", "Bearer 1234");
  const auto answer = co_await web.send(order);
  std::printf("%s\n", answer ? answer->body.c_str() : answer.error().message().c_str());
}

tartan::task<> visit(http::server& site, http::client& web, http::client& wary, std::string own, std::string given) {
  if (given.empty()) {
    co_await fetch(web, own + "/old");
    co_await post(web, own + "/orders");
  }
  const std::string last = given.empty() ? own : given;
  co_await fetch(wary, last);
  co_await site.close(std::chrono::seconds{10});
}

int main(int count, char** arguments) {
  tartan::runtime rt;
  const auto own = tartan::tls::self_signed(std::filesystem::temp_directory_path().string(), {"localhost"});
  tartan::tls::server secure{{.identities = {own}, .protocols = {"http/1.1"}}};
  http::server site{rt};
  site.get("/old", [](http::exchange&) { return http::reply::redirect("/new"); });
  site.get("/new", [](http::exchange& x) { return http::reply::text("hello, " + std::string{x.field("User-Agent")}); });
  site.post("/orders", [](http::exchange& x) -> tartan::task<http::reply> {
    const auto text = co_await x.body().read_all(1000);
    co_return text ? http::reply::text(*text + " is on its way") : http::reply::of_error(text.error());
  });
  const auto at = site.listen("127.0.0.1:0", {http::sealed_by(secure)});
  http::client web{rt, {.secure = {.authorities = own.certificate}, .most_redirects = 5}};
  http::client wary{rt};  // trusts those whom the system trusts
  const std::string url = "https://localhost:" + std::to_string(at.port());
  rt.spawn(visit, std::ref(site), std::ref(web), std::ref(wary), url, count > 1 ? arguments[1] : "").detach();
  rt.run_until_idle();
}
