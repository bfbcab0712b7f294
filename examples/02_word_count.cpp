// Shows: the one word that turns on all cores.
// Run:   build/release/examples/02_word_count
// See:   how often each word occurs. Take the color away: the same figures from one core, one text after the other.
#include <tartan/tartan.h>

#include <cstdio>
#include <map>
#include <sstream>
#include <string>
#include <vector>

using word_counts = std::map<std::string, int>;

word_counts count_words(const std::string& text) {
  word_counts counts;
  std::istringstream words{text};
  for (std::string word; words >> word;) ++counts[word];
  return counts;
}

int main() {
  const std::vector<std::string> texts{"over under over under", "over over under under", "warp weft warp weft", "weft over warp"};
  word_counts total;  // belongs to the default color

  tartan::runtime rt;                          // one worker for each CPU
  for (std::size_t i = 0; i < texts.size(); ++i) {
    rt.post(tartan::color{i + 1}, [&, i] {     // a color for each text: in parallel
      tartan::post([&, counts = count_words(texts[i])] {
        for (const auto& [word, count] : counts) total[word] += count;  // the default color: one at a time, no lock
      });
    });
  }
  rt.run_until_idle();

  for (const auto& [word, count] : total) std::printf("%2d %s\n", count, word.c_str());
}
