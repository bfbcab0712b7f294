#include <tartan/dns/resolver.h>
#include <tartan/tartan.h>

#include <cstdio>

int main() {
  tartan::runtime rt;
  const tartan::dns::resolver names{rt};
  const auto look_up = [&]() -> tartan::task<> {
    const auto found = co_await names.addresses("localhost");
    std::puts(found ? "localhost has an address" : found.error().message().c_str());
  };
  rt.spawn(look_up).detach();
  rt.run_until_idle();
}
