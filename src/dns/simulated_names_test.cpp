/// Look-ups on a simulated machine: the same seed, the same run.

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <tartan/core/runtime.h>
#include <tartan/core/spawn.h>
#include <tartan/core/when_all.h>
#include <tartan/dns/connect.h>
#include <tartan/io/simulation.h>
#include <vector>

#include "dns/resolver_fixture.h"
#include "tests/seed.h"

namespace tartan {
namespace {

using detail::record_type;
using test::asked;
using test::name_server;
using test::reply;

name_server::replies serve(const asked& q) {
  if (q.type == record_type::aaaa) return reply{q};
  if (!q.by_tcp && q.name.starts_with("large")) return reply{q}.truncated();
  return reply{q}.ipv4(q.name, 60, std::string{"\x7f\0\0\1", 4});
}

/// When each of some look-ups and connections ended, and how.
std::string story_of(std::uint64_t seed) {
  simulation_options network;
  network.seed = seed;
  network.loss_percent = 20;
  simulation world{network};
  options with;
  with.workers = 1;
  with.stall_after = {};
  with.poller = world.poller();
  std::string story;
  {
    runtime rt{with};
    name_server server{rt, test::here_color, serve};
    auto handle = spawn_in(rt, test::here_color, [&]() -> task<> {
      const dns::resolver names{test::only(server)};
      auto door = tcp::listen(rt, "127.0.0.1:0", {.color = test::here_color});
      const auto note = [&](const std::string& name, std::error_code error) {
        story += name + " " + std::to_string(world.elapsed().count()) + " " + error.message() + "\n";
      };
      std::vector<task<>> all;
      for (const char* const name : {"a.example", "large.example", "b.example", "large.example.org"}) {
        all.push_back([](const dns::resolver& from, std::string what, std::uint16_t port, const auto& tell) -> task<> {
          const auto found = co_await from.addresses(what);
          tell(what, found.error());
          const auto made = co_await tcp::connect(from, what, port);
          tell(what, made.error());
        }(names, name, door.local_address().value().port(), note));
      }
      co_await when_all(std::move(all));
      server.close();
    });
    handle.detach();
    rt.run_until_idle();
  }
  EXPECT_EQ(world.descriptors(), 0u);
  return story;
}

TEST(simulated_names, run_the_same_way_from_the_same_seed) {
  const std::uint64_t seed = test::seed();
  const std::string first = story_of(seed);
  EXPECT_EQ(std::count(first.begin(), first.end(), '\n'), 8);
  EXPECT_EQ(story_of(seed), first);
  EXPECT_NE(story_of(seed + 1), first);
}

}  // namespace
}  // namespace tartan
