#pragma once
// How evenly threads share the work: Jain's index.

#include <cstdint>

#include "bench/harness/per_thread.h"
#include "bench/harness/report.h"

namespace bench {

/// Each thread adds in a line of its own. A program has one such object.
class work_shares {
 public:
  static void add(std::uint64_t work) { lines::mine().work += work; }

  /// 1 if each of so many workers did the same, 1 / workers if one did it all. After all threads have ended what they counted.
  void tell(unsigned workers, report& to) const {
    double sum = 0;
    double squares = 0;
    lines_.for_each([&](const line& each) {
      const auto work = static_cast<double>(each.work);
      sum += work;
      squares += work * work;
    });
    if (squares > 0) to.add("evenness", sum * sum / squares / workers);
  }

 private:
  struct alignas(64) line {
    std::uint64_t work = 0;
  };
  using lines = per_thread<line, work_shares>;

  lines lines_;
};

}  // namespace bench
