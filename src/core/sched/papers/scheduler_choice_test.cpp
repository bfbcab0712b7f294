#include "core/sched/papers/scheduler_choice.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <stdexcept>
#include <string>
#include <system_error>
#include <tartan/core/options.h>
#include <tartan/core/runtime.h>

namespace tartan::detail {
namespace {

scheduler_choice parse(std::string_view text) { return scheduler_choice::parse(text, "a test"); }

/// Sets the variable, and puts back what it was.
class environment {
 public:
  explicit environment(const char* value) {
    if (const char* const was = std::getenv(name)) before_ = was;
    ::setenv(name, value, 1);
  }
  environment(const environment&) = delete;
  environment& operator=(const environment&) = delete;
  ~environment() {
    if (before_.empty()) {
      ::unsetenv(name);
    } else {
      ::setenv(name, before_.c_str(), 1);
    }
  }

 private:
  static constexpr const char* name = "TARTAN_SCHEDULER";
  std::string before_;
};

TEST(scheduler_choice, knows_each_scheduler_by_its_name) {
  EXPECT_EQ(parse("default").kind, scheduler_kind::standard);
  EXPECT_EQ(parse("serial").kind, scheduler_kind::serial);
  EXPECT_EQ(parse("shared_queue").kind, scheduler_kind::shared_queue);
  EXPECT_EQ(parse("per_worker").kind, scheduler_kind::per_worker);
  EXPECT_EQ(parse("color_queues").kind, scheduler_kind::color_queues);
}

TEST(scheduler_choice, takes_the_flags_of_each) {
  EXPECT_EQ(parse("shared_queue:first=3").first, 3u);
  const scheduler_choice smp = parse("per_worker:no-stealing,no-freelists,first=64");
  EXPECT_FALSE(smp.stealing);
  EXPECT_FALSE(smp.free_lists);
  EXPECT_EQ(smp.first, 64u);
  for (const char* const text : {"shared_queue:select,first=3", "per_worker:no-stealing,select", "per_worker:select,figures"}) {
    EXPECT_TRUE(parse(text).select) << text;
  }
  EXPECT_FALSE(parse("shared_queue").select || parse("per_worker").select);
  const scheduler_choice base = parse("color_queues:base");
  EXPECT_TRUE(base.stealing && !base.time_left && !base.penalty && !base.locality);
  EXPECT_EQ(parse("color_queues"), parse("color_queues:time-left,penalty,locality"));
  EXPECT_EQ(parse("color_queues"), parse("color_queues:all"));
  EXPECT_TRUE(parse("color_queues:penalty").time_left);  // what it acts on
  EXPECT_FALSE(parse("color_queues:no-stealing").stealing);
  EXPECT_TRUE(parse("shared_queue:most-frequent").most_frequent);
  EXPECT_TRUE(parse("shared_queue:select,most-frequent").most_frequent);
  EXPECT_FALSE(parse("shared_queue").most_frequent);
  const scheduler_choice measured = parse("color_queues:locality,measured-penalty");
  EXPECT_TRUE(measured.measured_penalty && measured.time_left && measured.locality);
  EXPECT_FALSE(measured.penalty || parse("color_queues").measured_penalty);
  for (const char* const name : {"shared_queue", "shared_queue:most-frequent", "per_worker:first=2", "color_queues", "color_queues:base",
                                 "color_queues:all", "color_queues:measured-penalty"}) {
    const std::string_view text{name};
    scheduler_choice counted = parse(std::string{text}.append(text.find(':') == text.npos ? ":figures" : ",figures"));
    EXPECT_TRUE(std::exchange(counted.figures, false)) << name;
    EXPECT_EQ(counted, parse(text)) << name;
  }
}

TEST(scheduler_choice, refuses_what_is_none_and_lists_what_there_is) {
  for (const std::string_view text : {"", "Default", "mely", "serial:", "serial:first=1", "default:no-stealing", "shared_queue:first=0",
                                      "shared_queue:first=65", "shared_queue:first=", "shared_queue:first=1x", "shared_queue:no-stealing",
                                      "per_worker:", "per_worker:no-stealing,", "per_worker:base", "color_queues:base,time-left",
                                      "color_queues:no-stealing,time-left", "color_queues:first=2", "color_queues:all,base",
                                      "serial:select", "default:select", "color_queues:select", "color_queues:select,base",
                                      "serial:figures", "default:figures", "per_worker:figures,first=2", "shared_queue:most-frequen",
                                      "shared_queue:first=2,most-frequent", "shared_queue:most-frequent,first=2", "per_worker:most-frequent",
                                      "color_queues:measured", "color_queues:penalty,measured-penalty",
                                      "color_queues:no-stealing,measured-penalty", "color_queues:all,measured-penalty"}) {
    EXPECT_THROW(static_cast<void>(parse(text)), std::invalid_argument) << text;
  }
  try {
    static_cast<void>(parse("mely"));
  } catch (const std::invalid_argument& e) {
    const std::string said = e.what();
    for (const char* const part : {"a test: \"mely\" is no scheduler", "shared_queue[:select, and first=N or most-frequent]", "measured-penalty",
                                   "color_queues"}) {
      EXPECT_NE(said.find(part), std::string::npos) << said;
    }
  }
}

TEST(scheduler_choice, comes_from_the_option_or_else_from_the_environment) {
  const environment set{"per_worker:first=5"};
  options with;
  EXPECT_EQ(scheduler_choice::from(with).first, 5u);
  with.scheduler = "default";
  EXPECT_EQ(scheduler_choice::from(with).kind, scheduler_kind::standard);
  with.stealing = false;
  EXPECT_FALSE(scheduler_choice::from(with).stealing);
}

TEST(scheduler_choice, that_is_wrong_is_told_by_the_runtime_with_its_origin) {
  const auto message = [](options with) -> std::string {
    try {
      const runtime rt{std::move(with)};
    } catch (const std::invalid_argument& e) {
      return e.what();
    }
    return {};
  };
  options with;
  with.scheduler = "nobody";
  EXPECT_NE(message(with).find("tartan::options::scheduler: \"nobody\""), std::string::npos);
  const environment set{"nothing"};
  EXPECT_NE(message({}).find("TARTAN_SCHEDULER: \"nothing\""), std::string::npos);
  with.scheduler = "color_queues";
  with.workers = 257;
  EXPECT_NE(message(with).find("workers: 257"), std::string::npos);
}

TEST(scheduler_choice, with_select_leaves_nothing_to_wait_for_outside) {
  for (const char* const name : {"shared_queue:select", "per_worker:select"}) {
    options with;
    with.scheduler = name;
    runtime rt{with};
    try {
      static_cast<void>(rt.descriptor());
      ADD_FAILURE() << name;
    } catch (const std::system_error& e) {
      EXPECT_EQ(e.code(), std::errc::not_supported) << name;
    }
  }
}

TEST(scheduler_choice, of_the_serial_one_makes_one_worker) {
  options with;
  with.scheduler = "serial";
  with.workers = 4;
  EXPECT_EQ(runtime{with}.workers(), 1u);
}

}  // namespace
}  // namespace tartan::detail
