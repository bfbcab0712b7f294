#include <tartan/tartan.h>
#include <tartan/tls/client.h>

#include <cstdio>

int main() {
  tartan::runtime rt;
  tartan::tls::client secure;
  const auto seal_nothing = [&]() -> tartan::task<> {
    const auto made = co_await secure.connect({}, "localhost");
    std::puts(made.error() == tartan::errc::closed ? "no connection, no TLS" : made.error().message().c_str());
  };
  rt.spawn(seal_nothing).detach();
  rt.run_until_idle();
}
