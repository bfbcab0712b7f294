/// What docs/guide/colors.md shows; tests/docs/check finds its code blocks here.
#include <gtest/gtest.h>
#include <tartan/tartan.h>

#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace {

class account {
 public:
  account(tartan::runtime& rt, std::string_view owner) : strand_{rt, owner} {}

  void deposit(int amount) {
    strand_.post([this, amount] { balance_ += amount; });
  }
  int balance() const {
    strand_.assert_here();  // for callers that are in this color already
    return balance_;
  }
  tartan::color where() const { return strand_; }

 private:
  tartan::strand strand_;
  int balance_ = 0;  // touched in strand_ only
};

std::string read_file(const std::string& path) { return "the text of " + path; }

TEST(colors_guide, two_colors_are_filled_in_parallel_each_in_order) {
  std::vector<int> evens, odds;  // each is touched in one color only
  tartan::runtime rt;
  for (int i = 0; i < 10; ++i) {
    const tartan::color where{i % 2 == 0 ? 2 : 1};
    rt.post(where, [&, i] { (i % 2 == 0 ? evens : odds).push_back(i); });
  }
  rt.run_until_idle();  // evens and odds were filled in parallel, each in order

  EXPECT_EQ(evens, (std::vector<int>{0, 2, 4, 6, 8}));
  EXPECT_EQ(odds, (std::vector<int>{1, 3, 5, 7, 9}));
}

TEST(colors_guide, an_object_keeps_its_state_in_a_strand) {
  int balance = 0;
  tartan::runtime rt;
  account ada{rt, "ada"};
  for (int i = 1; i <= 10; ++i) rt.post(tartan::color{i}, [&, i] { ada.deposit(i); });
  rt.run_until_idle();
  rt.post(ada.where(), [&] { balance = ada.balance(); });
  rt.run_until_idle();

  EXPECT_EQ(balance, 55);
  EXPECT_EQ(rt.name_of(ada.where()), "ada");
}

TEST(colors_guide, a_sharded_object_keeps_state_for_each_key) {
  tartan::runtime rt;
  tartan::sharded<std::unordered_map<std::string, int>> visits{rt, "visits"};
  rt.spawn_in(tartan::color::of("ada"), [&]() -> tartan::task<> {
    const std::string user = "ada";
    const int count = co_await visits.with(user, [&](auto& table) { return ++table[user]; });
    EXPECT_EQ(count, 1);
  });
  rt.run_until_idle();
  visits.post("ada", [](auto& table) { ++table["ada"]; });  // from any thread
  rt.run_until_idle();
  int count = 0;
  rt.spawn([&]() -> tartan::task<> {
    std::size_t users = 0;
    co_await visits.for_each([&](const auto& table) { users += table.size(); });
    EXPECT_EQ(users, 1u);
    count = co_await visits.with("ada", [](auto& table) { return table["ada"]; });
  });
  rt.run_until_idle();

  EXPECT_EQ(count, 2);
  EXPECT_EQ(rt.name_of(visits.where("ada")).substr(0, 7), "visits ");
}

TEST(colors_guide, a_post_goes_to_the_state_and_another_one_comes_back) {
  int count = 6, last_seen = 0;
  tartan::runtime rt;
  const tartan::color reader{1}, counter{2};
  rt.post(reader, [&] {
    tartan::post(counter, [&] {                               // there: touch its state
      const int seen = ++count;
      tartan::post(reader, [&, seen] { last_seen = seen; });  // and back, with what was found
    });
  });
  rt.run_until_idle();

  EXPECT_EQ(last_seen, 7);
}

TEST(colors_guide, a_bound_callback_brings_its_color_along) {
  std::map<int, std::string> lines;
  tartan::color ran_in;
  tartan::runtime rt;
  const tartan::strand log{rt, "log"};
  const tartan::color parser{1};
  auto report = tartan::bind(log, [&](int line, std::string text) { lines[line] = std::move(text); });
  rt.post(parser, [&] { report(7, "unexpected comma"); });  // runs in the color `log`
  rt.post(parser, [&] { tartan::bind(log, [&] { ran_in = tartan::current_color(); })(); });
  rt.run_until_idle();

  EXPECT_EQ(lines.at(7), "unexpected comma");
  EXPECT_EQ(ran_in, log);
}

TEST(colors_guide, what_is_dispatched_in_its_own_color_is_called_at_once) {
  std::string order;
  tartan::runtime rt;
  rt.post(tartan::color{1}, [&] {
    tartan::post(tartan::color{1}, [&] { order += " posted"; });
    tartan::dispatch(tartan::color{1}, [&] { order += " dispatched"; });
  });
  rt.run_until_idle();

  EXPECT_EQ(order, " dispatched posted");
}

TEST(colors_guide, what_is_more_urgent_goes_first) {
  std::string served;
  tartan::options one;
  one.workers = 1;
  one.scheduler = "default";
  tartan::runtime rt{one};
  const tartan::color bulk{1}, control{2};
  rt.post(bulk, [&] { served += 'b'; });
  rt.post(control, tartan::with_hints({.priority = 1}, [&] { served += 'c'; }));  // 0 is the usual, 3 the highest
  rt.run_until_idle();

  EXPECT_EQ(served, "cb");
}

TEST(colors_guide, work_that_blocks_comes_back_into_a_color) {
  std::map<std::string, std::string> cache;
  tartan::runtime rt;
  const tartan::strand pages{rt, "pages"};
  rt.post([&] {
    tartan::blocking(pages, [] { return read_file("index.html"); },
                     [&](tartan::result<std::string> text) { cache["index.html"] = std::move(text).value(); });
  });
  rt.run_until_idle();

  EXPECT_EQ(cache.at("index.html"), "the text of index.html");
}

}  // namespace
