// Shows: state that everybody uses, and no lock: it lives in a strand, and coroutines go there and come back.
// Run:   build/release/examples/03_page_cache
// See:   what four readers got, and that the cache was asked 12 times. Which reader had to load a page is chance.
#include <tartan/tartan.h>

#include <cstdio>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

std::string load_page(const std::string& path) { return "the text of " + path; }  // imagine a slow disk

class page_cache {
 public:
  explicit page_cache(tartan::runtime& rt) : strand_{rt, "page cache"} {}

  tartan::task<std::string> find(std::string path) {  // from any color
    auto known = co_await tartan::in(strand_, [&] { return look_up(path); });
    if (known) co_return std::move(*known);
    auto loaded = co_await tartan::blocking([&] { return load_page(path); });  // off the workers; the cache serves others meanwhile,
    co_return co_await tartan::in(strand_, [&] {                               // so the page may be there by now: then it stays
      return pages_.try_emplace(path, std::move(loaded)).first->second;
    });
  }

  int times_asked() const { return times_asked_; }  // for after the run

 private:
  std::optional<std::string> look_up(const std::string& path) {
    ++times_asked_;
    const auto found = pages_.find(path);
    return found != pages_.end() ? std::optional{found->second} : std::nullopt;
  }

  tartan::strand strand_;
  std::map<std::string, std::string> pages_;  // touched in strand_ only, as is
  int times_asked_ = 0;
};

tartan::task<> read_three(page_cache& cache, std::vector<std::string>& got) {
  for (const char* path : {"index", "news", "about"}) got.push_back(co_await cache.find(path));
}

int main() {
  std::vector<std::vector<std::string>> readers(4);
  tartan::runtime rt;
  page_cache cache{rt};
  for (std::size_t i = 0; i < readers.size(); ++i) {  // each reader has a color of its own: in parallel
    rt.spawn_in(tartan::color{i + 1}, read_three, std::ref(cache), std::ref(readers[i]));
  }
  rt.run_until_idle();
  for (const auto& got : readers) std::printf("%s, %s, %s\n", got[0].c_str(), got[1].c_str(), got[2].c_str());
  std::printf("the cache was asked %d times\n", cache.times_asked());
}
