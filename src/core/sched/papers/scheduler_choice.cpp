#include "core/sched/papers/scheduler_choice.h"

#include <charconv>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <system_error>
#include <tartan/core/options.h>

namespace tartan::detail {

namespace {

constexpr std::string_view known =
    "default; serial; shared_queue[:select, and first=N or most-frequent]; per_worker[:no-stealing,no-freelists,select,first=N]; "
    "color_queues[:no-stealing or base or all, or some of time-left,locality and penalty or measured-penalty]; N is 1 to 64; "
    "the last three: and figures, last";

struct named {
  std::string_view name;
  scheduler_kind kind;
};
constexpr named schedulers[] = {{"default", scheduler_kind::standard},
                                {"serial", scheduler_kind::serial},
                                {"shared_queue", scheduler_kind::shared_queue},
                                {"per_worker", scheduler_kind::per_worker},
                                {"color_queues", scheduler_kind::color_queues}};

bool has_figures(scheduler_kind kind) noexcept { return kind != scheduler_kind::standard && kind != scheduler_kind::serial; }

bool take_first(std::string_view flag, unsigned& into) noexcept {
  constexpr std::string_view name = "first=";
  if (!flag.starts_with(name)) return false;
  const std::string_view digits = flag.substr(name.size());
  const auto [end, wrong] = std::from_chars(digits.data(), digits.data() + digits.size(), into);
  return wrong == std::errc{} && end == digits.data() + digits.size() && into >= 1 && into <= scheduler_choice::most_first;
}

bool take_flag(std::string_view flag, scheduler_choice& into) noexcept {
  switch (into.kind) {
    case scheduler_kind::standard:
    case scheduler_kind::serial:
      return false;
    case scheduler_kind::shared_queue:
      if (flag == "select") return into.select = true;
      if (flag == "most-frequent") return into.most_frequent = true;
      return take_first(flag, into.first);
    case scheduler_kind::per_worker:
      if (flag == "no-stealing") return !(into.stealing = false);
      if (flag == "no-freelists") return !(into.free_lists = false);
      if (flag == "select") return into.select = true;
      return take_first(flag, into.first);
    case scheduler_kind::color_queues:
      break;
  }
  if (flag == "no-stealing") return !(into.stealing = false);
  if (flag == "time-left") return into.time_left = true;
  if (flag == "penalty") return into.penalty = into.time_left = true;  // what it changes is read by nothing else
  if (flag == "measured-penalty") return into.measured_penalty = into.time_left = true;
  if (flag == "locality") return into.locality = true;
  return false;
}

}  // namespace

scheduler_choice scheduler_choice::parse(std::string_view text, std::string_view origin) {
  const auto refuse = [&]() {
    throw std::invalid_argument{std::string{origin}.append(": \"").append(text).append("\" is no scheduler. There are: ").append(known)};
  };
  scheduler_choice made;
  const std::string_view name = text.substr(0, text.find(':'));
  bool found = false;
  for (const named& each : schedulers) {
    if (each.name != name) continue;
    made.kind = each.kind;
    found = true;
  }
  if (!found) refuse();
  const bool mely = made.kind == scheduler_kind::color_queues;
  std::string_view flags = text.substr(name.size());
  if (has_figures(made.kind) && (flags == ":figures" || flags.ends_with(",figures"))) {
    made.figures = true;
    flags.remove_suffix(std::string_view{",figures"}.size());
  }
  if (mely && (flags.empty() || flags == ":all")) {
    made.time_left = made.penalty = made.locality = true;
    return made;
  }
  if (mely && flags == ":base") return made;
  while (!flags.empty()) {
    flags.remove_prefix(1);  // the mark before it
    const std::string_view flag = flags.substr(0, flags.find(','));
    if (!take_flag(flag, made)) refuse();
    flags.remove_prefix(flag.size());
  }
  if (made.most_frequent && text.find("first=") != text.npos) refuse();  // it looks at all colors
  if (made.penalty && made.measured_penalty) refuse();  // told, or measured
  if (!made.stealing && (made.time_left || made.locality)) refuse();  // rules for a thief that does not come
  return made;
}

scheduler_choice scheduler_choice::from(const options& with) {
  scheduler_choice made;
  if (!with.scheduler.empty()) {
    made = parse(with.scheduler, "tartan::options::scheduler");
  } else if (const char* const said = std::getenv("TARTAN_SCHEDULER"); said != nullptr && *said != '\0') {
    made = parse(said, "TARTAN_SCHEDULER");
  }
  made.stealing = made.stealing && with.stealing;
  return made;
}

}  // namespace tartan::detail
