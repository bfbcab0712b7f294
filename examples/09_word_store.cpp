// Shows: state for each key, and no lock: a store in 64 shards, each with a color of its own.
// Run:   build/release/examples/09_word_store
// See:   how often each word occurs. Four readers added them to one store at the same time, a callback one more.
#include <tartan/tartan.h>

#include <cstdio>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>

class word_store {
 public:
  explicit word_store(tartan::runtime& rt) : shards_{rt, "words"} {}

  tartan::task<int> add(std::string word) {  // from any color: goes to the word's shard and comes back
    co_return co_await shards_.with(word, [&](counts& shard) { return ++shard[word]; });
  }

  void add_later(const std::string& word) {  // for code that is no coroutine, on any thread
    shards_.post(word, [word](counts& shard) { ++shard[word]; });
  }

  tartan::task<std::map<std::string, int>> all() {  // visits one shard after the other
    std::map<std::string, int> sorted;
    co_await shards_.for_each([&](const counts& shard) { sorted.insert(shard.begin(), shard.end()); });
    co_return sorted;
  }

 private:
  using counts = std::unordered_map<std::string, int>;
  tartan::sharded<counts> shards_;  // each word is in one of 64 tables, always in the same one
};

tartan::task<> read_words(word_store& store, std::string text) {
  std::istringstream words{text};
  for (std::string word; words >> word;) co_await store.add(word);
}

tartan::task<> print(word_store& store) {
  const auto all = co_await store.all();
  for (const auto& [word, count] : all) std::printf("%2d %s\n", count, word.c_str());
}

int main() {
  const std::vector<std::string> texts{"over under over under", "over over under under", "warp weft warp weft",
                                       "weft over warp"};
  tartan::runtime rt;
  word_store store{rt};
  for (std::size_t i = 0; i < texts.size(); ++i) {  // each reader has a color of its own: in parallel
    rt.spawn_in(tartan::color{i + 1}, read_words, std::ref(store), texts[i]);
  }
  store.add_later("shuttle");
  rt.run_until_idle();
  rt.spawn(print, std::ref(store));
  rt.run_until_idle();
}
