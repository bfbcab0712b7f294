// Shows: remote procedures: a server and its client, from stock.x.
// Run:   build/release/examples/14_stock
// See:   what a shop has in stock, as a client is told over a connection.
#include <tartan/rpc/server.h>
#include <tartan/tartan.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <map>
#include <string>

#include "stock.h"  // tartan-xdr generates it from stock.x

class shop {
 public:
  tartan::task<std::uint32_t> stock_add(stock::item given) {
    co_await tartan::on(shelf);  // clients are served in parallel; what they share has a color
    co_return counts_[given.name] += given.count;
  }
  tartan::task<stock::lookup> stock_find(stock::item_name name) {
    co_await tartan::on(shelf);
    stock::lookup answer;
    const auto place = counts_.find(name);
    if (place == counts_.end()) answer.set_void(stock::answer::UNKNOWN);
    if (place != counts_.end()) answer.set_found({name, place->second});
    co_return answer;
  }

 private:
  static constexpr tartan::color shelf{1};
  std::map<std::string, std::uint32_t> counts_;
};

tartan::task<> ask(tartan::address at) {
  auto peer = co_await tartan::tcp::connect(at);
  if (!peer) co_return static_cast<void>(std::printf("%s\n", peer.error().message().c_str()));
  const stock::STOCK_V1::client there{tartan::rpc::connection{*std::move(peer)}};
  const auto sum = co_await there.stock_add({"apple", 7});
  if (sum) std::printf("%u apples\n", *sum);
  for (const char* name : {"apple", "pear"}) {
    const auto found = co_await there.stock_find(name);
    std::printf("%s: %s\n", name, found ? tartan::xdr::print(*found).c_str() : found.error().message().c_str());
  }
}

int main() {
  shop corner;
  tartan::runtime rt;
  tartan::rpc::programs all;
  all.add<stock::STOCK_V1>(corner);
  tartan::rpc::server site{rt, std::move(all)};
  const tartan::address at = site.listen("127.0.0.1:0");
  const auto shopping = [&]() -> tartan::task<> {
    co_await ask(at);
    co_await site.close(std::chrono::seconds{1});
  };
  rt.spawn(shopping).detach();
  rt.run_until_idle();
}
