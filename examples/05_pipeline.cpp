// Shows: stages that work at the same time, joined by channels with a limit; who is too fast waits.
// Run:   build/release/examples/05_pipeline
// See:   eight pages, read by one stage, shouted by three workers at once, collected and sorted by the last stage.
#include <tartan/tartan.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <functional>
#include <string>
#include <utility>
#include <vector>

using pages = tartan::channel<std::string>;

std::string read_page(int number) { return "this is page " + std::to_string(number); }  // imagine a slow disk

tartan::task<> read_all(pages& out) {
  for (int number = 1; number <= 8; ++number) {
    auto page = co_await tartan::blocking([&] { return read_page(number); });  // off the workers
    if (!co_await out.send(std::move(page))) break;                            // waits for room; false: the runtime stops
  }
  out.close();
}

tartan::task<> shout(pages& in, pages& out) {
  while (auto page = co_await in.receive()) {  // false: closed and empty
    for (char& c : *page) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    if (!co_await out.send(std::move(*page))) co_return;
  }
}

tartan::task<> shout_in_parallel(pages& in, pages& out) {
  co_await tartan::with_task_group([&](tartan::task_group& group) -> tartan::task<> {
    for (int worker = 1; worker <= 3; ++worker) group.spawn_in(tartan::color{worker}, shout, std::ref(in), std::ref(out));
    co_return;  // the group waits for all three
  });
  out.close();
}

tartan::task<std::vector<std::string>> collect(pages& in) {
  std::vector<std::string> all;
  while (auto page = co_await in.receive()) all.push_back(std::move(*page));
  std::sort(all.begin(), all.end());
  co_return all;
}

tartan::task<> run_pipeline() {
  pages quiet{tartan::capacity{2}}, loud{tartan::capacity{2}};
  const auto [done, shouted, all] = co_await tartan::when_all(read_all(quiet), shout_in_parallel(quiet, loud), collect(loud));
  for (const std::string& page : all) std::puts(page.c_str());
}

int main() {
  tartan::runtime rt;
  rt.spawn(run_pipeline);
  rt.run_until_idle();
}
