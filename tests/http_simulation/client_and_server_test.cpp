// A client and a server of this library on a simulated network that breaks connections: many seeds.

#include <gtest/gtest.h>
#include <tartan/http_client/client.h>
#include <tartan/http_server/server.h>
#include <tartan/io/simulation.h>
#include <tartan/tartan.h>

#include <map>
#include <random>
#include <string>
#include <vector>

#include "tests/seed.h"
#include "tests/workers.h"

namespace tartan {
namespace {

using namespace std::chrono_literals;

/// What becomes of some requests.
struct outcome {
  std::string story;                    ///< of each request, with the time
  std::map<std::string, int> handled;   ///< how often the server has seen each id
  std::map<std::string, bool> repeats;  ///< whether the request with that id may be repeated
  int answered = 0;
  int wrong = 0;
  std::size_t left = 0;  ///< descriptors
};

std::string long_text(const std::string& id) {
  std::string text;
  while (text.size() < 30'000) text += id + " ";
  return text;
}

void add_routes(http::server& site, outcome& of) {
  site.get("/text/{id}",
           [&](http::exchange& x) {
             ++of.handled[std::string{x.parameter("id")}];
             return http::reply::text(long_text(std::string{x.parameter("id")}));
           })
      .in(color{3});
  site.get("/pieces/{id}",
           [&](http::exchange& x) -> task<> {
             const std::string id{x.parameter("id")};
             ++of.handled[id];
             const std::string text = long_text(id);
             result<> went = co_await x.begin({});
             for (std::size_t at = 0; went && at < text.size(); at += 1000)
               went = co_await x.write(std::string_view{text}.substr(at, 1000));
           })
      .in(color{3});
  site.post("/echo/{id}",
            [&](http::exchange& x) -> task<http::reply> {
              ++of.handled[std::string{x.parameter("id")}];
              auto text = co_await x.body().read_all(100'000);
              if (!text) co_return http::reply::of_error(text.error());
              co_return http::reply::text(*text);
            })
      .in(color{3});
}

task<> ask(http::client& web, std::string at, std::string id, unsigned kind, outcome& of, simulation& world) {
  const std::string paths[]{"/text/", "/pieces/", "/echo/"};
  http::client_request what{kind == 2 ? "POST" : "GET", at + paths[kind] + id};
  if (kind == 2) what.body(long_text(id), "text/plain");
  of.repeats[id] = kind != 2;
  const auto answer = co_await web.send(what);
  of.story += id + " " + std::to_string(world.elapsed().count()) + " ";
  of.story += (answer ? std::to_string(static_cast<unsigned>(answer->status)) : answer.error().message()) + "\n";
  if (!answer || !answer->is_success()) co_return;
  ++of.answered;
  if (answer->body != long_text(id)) ++of.wrong;
}

outcome play(std::uint64_t seed, unsigned workers, unsigned resets) {
  simulation_options network;
  network.seed = seed;
  network.partial_percent = 60;
  network.reset_percent = resets;
  simulation world{network};
  options with;
  with.workers = workers;
  with.stall_after = {};
  with.poller = world.poller();
  outcome of;
  {
    runtime rt{with};
    http::server_settings quiet;
    quiet.on_failure = [](const http::failed_request&) {};
    http::server site{rt, quiet};
    add_routes(site, of);
    const std::string at = "http://" + site.listen("127.0.0.1:0").to_string();
    auto whole = spawn_in(rt, color{3}, [&]() -> task<> {
      std::mt19937_64 random{seed};
      http::client web{{.most_per_origin = 4}};
      for (int round = 0; round < 3; ++round) {
        std::vector<task<>> all;
        for (int n = 0; n < 8; ++n) {
          all.push_back(ask(web, at, std::to_string(round * 8 + n), static_cast<unsigned>(random() % 3), of, world));
        }
        co_await when_all(std::move(all));
      }
      co_await site.close(1min);
    });
    whole.detach();
    rt.run_until_idle();
  }
  of.left = world.descriptors();
  return of;
}

TEST(http_simulations, answer_everything_where_nothing_breaks) {
  const std::uint64_t seed = test::seed();
  for (unsigned n = 0; n < test::rounds(10); ++n) {
    const outcome of = play(seed + n, 1 + n % 4, 0);
    EXPECT_EQ(of.answered, 24) << of.story;
    EXPECT_EQ(of.wrong, 0);
    EXPECT_EQ(of.left, 0u);
    for (const auto& [id, times] : of.handled) EXPECT_EQ(times, 1) << id;
  }
}

TEST(http_simulations, give_right_answers_or_errors_where_connections_break) {
  const std::uint64_t seed = test::seed();
  int answered = 0;
  for (unsigned n = 0; n < test::rounds(50); ++n) {
    const outcome of = play(seed + n, 1 + n % 4, 3);
    answered += of.answered;
    EXPECT_EQ(of.wrong, 0) << of.story;
    EXPECT_EQ(of.left, 0u);
    for (const auto& [id, times] : of.handled) EXPECT_LE(times, of.repeats.at(id) ? 2 : 1) << id << "\n" << of.story;
  }
  EXPECT_GT(answered, 0);
}

TEST(http_simulations, run_the_same_way_from_the_same_seed) {
  const std::uint64_t seed = test::seed();
  const outcome first = play(seed, 1, 2);
  EXPECT_EQ(std::count(first.story.begin(), first.story.end(), '\n'), 24);
  EXPECT_EQ(play(seed, 1, 2).story, first.story);
  EXPECT_NE(play(seed + 1, 1, 2).story, first.story);
}

}  // namespace
}  // namespace tartan
