#include <tartan/xdr/codec.h>
#include <tartan/xdr/print.h>

#include <cstdio>
#include <type_traits>

#include <kiosk.h>
#include <shapes.h>

int main() {
  static_assert(std::is_same_v<decltype(kiosk::seat::page), tartan::xdr::data<16>>);
  const kiosk::seat one{.who = "bob", .rows = {1, 2, 3}};
  tartan::buf::chain wire;
  if (!tartan::xdr::encode(wire, one)) return 1;
  const auto back = tartan::xdr::decode<kiosk::seat>(wire);
  if (!back || !(*back == one)) return 1;
  std::printf("%s %s\n", tartan::xdr::print(*back).c_str(), tartan::xdr::print(outside::shapes::point{}).c_str());
}
