#include <tartan/dns/error.h>
#include <tartan/tartan.h>

#include <cstdio>

int main() {
  tartan::runtime rt;
  rt.post([] { std::puts(make_error_code(tartan::dns::errc::no_such_host).message().c_str()); });
  rt.run_until_idle();
}
