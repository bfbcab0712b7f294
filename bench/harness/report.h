#pragma once
// One run's figures, as one line of JSON on stdout.

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/harness/clock.h"
#include "bench/harness/process.h"
#include "bench/harness/request.h"

namespace bench {

/// Collects figures from its construction on; `print` adds what the process used meanwhile.
class report {
 public:
  report(const request& asked, std::string_view question)
      : head_{"{\"question\": \"" + std::string{question} + "\", \"contender\": \"" + asked.contender +
              (asked.variant.empty() ? "" : "+" + asked.variant) + "\", \"workers\": " + std::to_string(asked.workers)},
        before_{process_usage::now()},
        began_ns_{now_ns()} {}

  void add(std::string name, double value) { figures_.emplace_back(std::move(name), value); }

  void print() const { print(process_usage::now().since(before_)); }
  /// With what another process has used, which is the one measured.
  void print(const process_usage& used) const {
    std::string line = head_;
    const auto append = [&line](const std::string& name, double value) {
      char text[64];
      std::snprintf(text, sizeof text, "%.6g", value);
      line += ", \"" + name + "\": " + text;
    };
    for (const auto& [name, value] : figures_) append(name, value);
    append("wall_s", static_cast<double>(now_ns() - began_ns_) / 1e9);
    append("user_s", used.user_s);
    append("system_s", used.system_s);
    append("voluntary_switches", used.voluntary_switches);
    append("involuntary_switches", used.involuntary_switches);
    std::printf("%s}\n", line.c_str());
  }

 private:
  std::string head_;
  process_usage before_;
  std::uint64_t began_ns_;
  std::vector<std::pair<std::string, double>> figures_;
};

/// Adds what only some lanes can tell (steals, wakes).
template <class Lanes>
void add_own_figures(const Lanes& lanes, report& to) {
  if constexpr (requires { lanes.tell(to); }) lanes.tell(to);
}

}  // namespace bench
