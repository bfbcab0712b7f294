// Shows: a server and a client that speak TLS; any_stream, which hides that from the code behind it.
// Run:   build/release/examples/11_tls_echo
// See:   what comes back, plain and sealed; why a client leaves that does not trust the server.
#include <tartan/tartan.h>
#include <tartan/tls/client.h>
#include <tartan/tls/self_signed.h>
#include <tartan/tls/server.h>

#include <cstdio>
#include <filesystem>
#include <string>
#include <utility>

tartan::task<> echo(tartan::any_stream peer) {
  std::string line;
  while (co_await peer.read_until(line, "\n", 1000)) {
    if (!co_await peer.write(std::exchange(line, {}))) co_return;
  }
}

tartan::task<> serve(tartan::tls::server& secure, tartan::tcp::listener plain, tartan::tcp::listener sealed) {
  if (auto peer = co_await plain.accept(tartan::color{})) co_await echo(*std::move(peer));
  for (int visitors = 0; visitors < 2; ++visitors) {
    auto accepted = co_await sealed.accept(tartan::color{});  // in the color that runs here
    if (!accepted) co_return;
    auto peer = co_await secure.accept(*std::move(accepted));
    if (peer) co_await echo(*std::move(peer));
  }
}

tartan::task<> ask(tartan::any_stream peer, std::string text) {
  std::string line;
  if (!co_await peer.write(text + "\n")) co_return;
  if (co_await peer.read_until(line, "\n", 1000)) std::printf("%s", line.c_str());
}

tartan::task<> visit(tartan::tls::client& secure, tartan::address at) {
  auto connected = co_await tartan::tcp::connect(at);
  if (!connected) co_return;
  auto peer = co_await secure.connect(*std::move(connected), "localhost");
  if (peer) co_return co_await ask(*std::move(peer), "sealed");
  std::printf("%s\n", peer.error().message().c_str());
}

int main() {
  const auto own = tartan::tls::self_signed(std::filesystem::temp_directory_path().string(), {"localhost"});
  tartan::tls::server secure{{.identities = {own}}};
  tartan::tls::client trusting{{.authorities = own.certificate}};
  tartan::tls::client wary;  // trusts those whom the system trusts
  tartan::runtime rt;
  auto plain = tartan::tcp::listen(rt, "127.0.0.1:0");
  auto sealed = tartan::tcp::listen(rt, "127.0.0.1:0");
  rt.spawn([&, plain_at = *plain.local_address(), at = *sealed.local_address()]() -> tartan::task<> {
      if (auto peer = co_await tartan::tcp::connect(plain_at)) co_await ask(*std::move(peer), "plain");
      co_await visit(trusting, at);
      co_await visit(wary, at);
    }).detach();
  rt.spawn(serve, std::ref(secure), std::move(plain), std::move(sealed)).detach();
  rt.run_until_idle();
}
