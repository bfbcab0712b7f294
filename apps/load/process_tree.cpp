#include "load/process_tree.h"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <iterator>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "load/proc_file.h"

namespace load {

namespace {

/// The numbers that name the entries of a folder of /proc.
std::vector<pid_t> numbers_in(const std::string& folder) {
  std::vector<pid_t> found;
  std::error_code gone;
  for (std::filesystem::directory_iterator at{folder, gone}; !gone && at != std::filesystem::directory_iterator{}; at.increment(gone)) {
    const std::string name = at->path().filename().string();
    pid_t number = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (error == std::errc{} && end == name.data() + name.size()) found.push_back(number);
  }
  return found;
}

/// What /proc/PID/stat has behind the name, which may hold anything.
struct process_stat {
  bool lives = false;
  pid_t parent = 0;
  double user_ticks = 0;    ///< of the process and of those it has waited for
  double system_ticks = 0;
  double ended_ticks = 0;   ///< of the latter alone
};

process_stat stat_of(pid_t process) {
  process_stat read;
  const std::string text = content_of("/proc/" + std::to_string(process) + "/stat");
  const std::size_t end_of_name = text.rfind(')');
  if (end_of_name == std::string::npos) return read;
  std::istringstream in{text.substr(end_of_name + 1)};
  std::string skipped;
  constexpr int before_times = 9;
  double user = 0;
  double system = 0;
  double ended_user = 0;
  double ended_system = 0;
  char state = 'X';
  in >> state >> read.parent;
  read.lives = state != 'Z' && state != 'X';
  for (int n = 0; n < before_times; ++n) in >> skipped;
  in >> user >> system >> ended_user >> ended_system;
  read.user_ticks = user + ended_user;
  read.system_ticks = system + ended_system;
  read.ended_ticks = ended_user + ended_system;
  return read;
}

/// In nanoseconds, with threads that have ended; the ticks in /proc are ten milliseconds.
double cpu_seconds(pid_t process) {
  clockid_t clock{};
  timespec time{};
  if (::clock_getcpuclockid(process, &clock) != 0 || ::clock_gettime(clock, &time) != 0) return 0;
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

/// The number in the line that begins with a name; 0 if there is none.
std::uint64_t number_behind(std::string_view text, std::string_view name) {
  const std::size_t at = text.find(name);
  if (at == std::string_view::npos) return 0;
  text.remove_prefix(at + name.size());
  text.remove_prefix(std::min(text.find_first_of("0123456789"), text.size()));
  std::uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

double ticks_per_second() { return static_cast<double>(::sysconf(_SC_CLK_TCK)); }

}  // namespace

tree_usage::times tree_usage::sum() const {
  times all;
  for (const auto& [process, each] : by_process) {
    all.cpu_s += each.cpu_s;
    all.user_ticks += each.user_ticks;
    all.system_ticks += each.system_ticks;
  }
  return all;
}

used_between between(const tree_usage& before, const tree_usage& after) {
  used_between used;
  tree_usage counted = before;  // who has waited for a child that ended has the child's times, but nobody has those of a root
  for (const pid_t each : after.ended_roots) counted.by_process.erase(each);
  used.ended_roots = after.ended_roots.size();
  const tree_usage::times old = counted.sum();
  const tree_usage::times now = after.sum();
  used.cpu_s = std::max(0.0, now.cpu_s - old.cpu_s);
  const double user = std::max(0.0, now.user_ticks - old.user_ticks);
  const double system = std::max(0.0, now.system_ticks - old.system_ticks);
  if (user + system > 0) {
    used.user_s = used.cpu_s * user / (user + system);
    used.system_s = used.cpu_s - used.user_s;
  }
  for (const auto& [thread, switches] : after.involuntary_switches) {
    const auto known = before.involuntary_switches.find(thread);
    const std::uint64_t least = known == before.involuntary_switches.end() ? 0 : known->second;
    used.involuntary_switches += switches - std::min(least, switches);
  }
  return used;
}

pid_t process_tree::missing() const {
  const auto found = std::find_if(roots_.begin(), roots_.end(), [](pid_t process) { return !stat_of(process).lives; });
  return found == roots_.end() ? 0 : *found;
}

std::vector<pid_t> process_tree::all() const {
  std::multimap<pid_t, pid_t> children;
  for (const pid_t each : numbers_in("/proc")) children.emplace(stat_of(each).parent, each);
  std::vector<pid_t> found;
  std::vector<pid_t> ahead = roots_;
  while (!ahead.empty()) {
    const pid_t next = ahead.back();
    ahead.pop_back();
    if (next == ::getpid()) continue;  // who looks, and is no server: a shell may be named that has started both
    if (std::find(found.begin(), found.end(), next) != found.end()) continue;  // one root may have started another
    found.push_back(next);
    const auto [first, last] = children.equal_range(next);
    for (auto child = first; child != last; ++child) ahead.push_back(child->second);
  }
  return found;
}

tree_usage process_tree::look() const {
  tree_usage sum;
  sum.processes = all();
  for (const pid_t each : sum.processes) {
    const std::string threads = "/proc/" + std::to_string(each) + "/task";
    for (const pid_t thread : numbers_in(threads)) {
      const std::string status = content_of(threads + "/" + std::to_string(thread) + "/status");
      sum.involuntary_switches[thread] = number_behind(status, "nonvoluntary_ctxt_switches:");
    }
  }
  return sum;
}

void process_tree::add_times(tree_usage& to) {
  for (const pid_t each : to.processes) to.by_process[each].cpu_s = cpu_seconds(each);  // first, as all of that goes on
  for (const pid_t each : to.processes) {
    const process_stat stat = stat_of(each);
    tree_usage::times& its = to.by_process[each];
    its.cpu_s += stat.ended_ticks / ticks_per_second();
    its.user_ticks = stat.user_ticks;
    its.system_ticks = stat.system_ticks;
    if (!stat.lives) to.by_process.erase(each);
  }
}

void process_tree::add_others(tree_usage& to) const {
  tree_usage now = look();
  const auto is_known = [&to](pid_t process) { return std::find(to.processes.begin(), to.processes.end(), process) != to.processes.end(); };
  std::erase_if(now.processes, is_known);
  add_times(now);
  to.by_process.merge(now.by_process);
  std::copy_if(roots_.begin(), roots_.end(), std::back_inserter(to.ended_roots), [](pid_t root) { return !stat_of(root).lives; });
  to.processes.insert(to.processes.end(), now.processes.begin(), now.processes.end());
  to.involuntary_switches = std::move(now.involuntary_switches);
}

tree_memory process_tree::memory() const {
  tree_memory sum;
  for (const pid_t each : all()) {
    const std::string text = content_of("/proc/" + std::to_string(each) + "/smaps_rollup");
    sum.rss_kb += number_behind(text, "\nRss:");
    sum.pss_kb += number_behind(text, "\nPss:");
  }
  return sum;
}

}  // namespace load
