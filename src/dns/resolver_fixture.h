#pragma once
/// For tests of a resolver: a name server and a resolver that knows it, on either machine.

#include <functional>
#include <optional>
#include <string>
#include <tartan/dns/resolver.h>

#include "dns/host_name.h"
#include "dns/name_server_fixture.h"
#include "io/machine_fixture.h"

namespace tartan::test {

/// "2001:db8::1" and "2001:db8::2" as the bytes of a record.
inline const std::string ipv6_one{"\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\1", 16};
inline const std::string ipv6_two{"\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\2", 16};
inline const std::string ipv4_one{"\xc0\0\2\1", 4};  ///< 192.0.2.1
inline const std::string ipv4_two{"\xc0\0\2\2", 4};

inline std::string text_of(const result<std::vector<dns::host_address>>& found) {
  if (!found) return found.error().message();
  std::string all;
  for (const auto& each : *found) {
    all += (all.empty() ? "" : " ") + each.at.to_string() + "/" + std::to_string(each.time_to_live.count());
  }
  return all;
}

/// example.org has both families, four.example.org one; all else does not exist.
inline name_server::replies examples(const asked& as_sent) {
  asked q = as_sent;
  q.name = detail::lower_case(q.name);
  if (q.name == "example.org" && q.type == record_type::aaaa)
    return reply{q}.add(q.name, record_type::aaaa, 60, ipv6_one);
  if (q.name == "example.org" || q.name == "four.example.org") {
    return q.type == record_type::a ? reply{q}.ipv4(q.name, 300, ipv4_one) : reply{q};
  }
  return reply{q, 3};
}

class with_name_server : public on_machine, public testing::WithParamInterface<place> {
 protected:
  [[nodiscard]] place where() const override { return GetParam(); }

  using body = std::function<task<>(dns::resolver&, name_server&)>;
  using change = std::function<void(dns::resolver_options&)>;

  /// Runs a coroutine with a server that answers by `serve`, and a resolver whose options `set` may change.
  void ask(name_server::function serve, const body& run, const change& set = {}) {
    server_.emplace(rt(), here_color, std::move(serve), server_at);
    dns::resolver_options with = only(*server_);
    if (set) set(with);
    in_color([&]() -> task<> {
      dns::resolver names{with};
      co_await run(names, *server_);
      server_->close();
    });
    server_.reset();
  }

  /// What one look-up gives.
  std::string addresses(const std::string& host, name_server::function serve, const change& set = {},
                        dns::address_family family = dns::address_family::any) {
    std::string got;
    ask(
        std::move(serve),
        [&](dns::resolver& names, name_server& /*server*/) -> task<> {
          const auto found = co_await names.addresses(host, family);
          got = text_of(found);
        },
        set);
    return got;
  }

  address server_at = address::loopback(0);
  std::optional<name_server> server_;
};

}  // namespace tartan::test
