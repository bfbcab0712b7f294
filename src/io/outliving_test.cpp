// An object with a descriptor that is destroyed after its runtime would use what is gone: the end of the runtime finds it.

#include <gtest/gtest.h>

#include <unistd.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <optional>
#include <tartan/core/post.h>
#include <tartan/core/spawn.h>
#include <tartan/core/strand.h>
#include <tartan/io/local.h>
#include <tartan/io/pipe.h>
#include <tartan/io/tcp.h>
#include <tartan/io/udp.h>
#include <utility>

namespace tartan {
namespace {

using namespace std::chrono_literals;

constexpr color c{7};

options one_worker() {
  options with;
  with.workers = 1;
  return with;
}

tcp::listener listener_of(runtime& rt) { return tcp::listen(rt, "127.0.0.1:0", {.color = c}); }
local::stream stream_of(runtime& rt) { return std::move(local::pair(rt, c, c)->first); }
udp::socket socket_of(runtime& rt) { return std::move(*udp::try_bind(rt, address::loopback(0), {.color = c})); }
pipe::read_end pipe_of(runtime& rt) { return std::move(pipe::open(rt, c, c)->read); }

/// What `use` does is done while the runtime is there.
template <class Make, class Use>
void outlive(Make make, Use use) {
  std::optional<decltype(make(std::declval<runtime&>()))> object;
  runtime rt{one_worker()};
  rt.name(c, "echo");
  object.emplace(make(rt));
  use(rt, *object);
}
constexpr auto nothing = [](runtime&, auto&) {};

TEST(an_object_that_outlives_its_runtime_DeathTest, ends_the_program_with_its_color_and_where_the_runtime_was_made) {
  const char* const message =
      "tartan: an object with descriptor [0-9]+, of color 7 \"echo\", opened outside of events, outlives its runtime, "
      "which was made at .*outliving_test";
  EXPECT_DEATH(outlive(listener_of, nothing), message);
  EXPECT_DEATH(outlive(stream_of, nothing), message);
  EXPECT_DEATH(outlive(socket_of, nothing), message);
  EXPECT_DEATH(outlive(pipe_of, nothing), message);
  EXPECT_DEATH(outlive(stream_of, [](runtime& rt, auto&) { rt.drain(0ns); }), message);
}

TEST(an_object_that_outlives_its_runtime_DeathTest, shows_the_event_in_which_it_was_opened) {
  const auto opened_in_an_event = [] {
    std::optional<local::stream> object;
    runtime rt{one_worker()};
    rt.post(c, [&] { object.emplace(stream_of(rt)); });
    rt.run_until_idle();
  };
  EXPECT_DEATH(opened_in_an_event(), "of color 7, opened in an event that was posted at .*outliving_test.*, outlives its runtime");
}

// The stop has closed it, and the object does not know.
TEST(an_object_that_outlives_its_runtime_DeathTest, ends_the_program_also_if_the_stop_has_closed_it) {
  const auto stop = [](runtime& rt, tcp::listener& l) {
    rt.drain(1h);
    if (l.is_open()) std::exit(1);
  };
  EXPECT_DEATH(outlive(listener_of, stop), "an object that the stop has closed, of color 7 \"echo\".*outlives its runtime");
}

TEST(an_object, may_be_destroyed_after_its_runtime_if_it_was_closed_before) {
  outlive(stream_of, [](runtime&, local::stream& s) { s.close(); });
  outlive(listener_of, [](runtime&, tcp::listener& l) { l.close(); });
  outlive(stream_of, [](runtime&, local::stream& s) { ::close(s.release()); });
  outlive(stream_of, [](runtime&, local::stream& s) { const local::stream taken{std::move(s)}; });
}

TEST(an_object, keeps_its_color_when_it_is_closed) {
  runtime rt{one_worker()};
  local::stream one = stream_of(rt);
  one.close();
  EXPECT_EQ(one.color(), c);
  EXPECT_FALSE(one.is_open());
  one.close();
  EXPECT_EQ(one.native_handle(), -1);
}

// It is destroyed outside of its color, whose event then closes the descriptor: or does not, if the runtime ends first.
TEST(an_object, may_be_destroyed_at_any_time_before_its_runtime) {
  {
    runtime rt{one_worker()};
    { const local::stream abandoned = stream_of(rt); }
  }
  {
    runtime rt{one_worker()};
    std::optional<tcp::listener> listener{listener_of(rt)};
    rt.stop();
    rt.post(color{8}, [] {});
    listener.reset();
    rt.run();
  }
  {
    runtime rt{one_worker()};
    std::optional<tcp::listener> listener{listener_of(rt)};
    rt.drain(1h);
    listener.reset();
  }
  {
    runtime rt{one_worker()};
    std::array<std::byte, 8> room{};
    spawn_in(rt, c, [&]() -> task<> {
      auto both = local::pair();
      static_cast<void>(co_await both->first.read_some(room));
    });
    rt.run_for(0ns);
  }
}

TEST(a_descriptor_DeathTest, cannot_be_in_a_strand_of_another_runtime) {
  runtime other{one_worker()};
  const strand s{other};
  runtime own{one_worker()};
  EXPECT_DEATH(static_cast<void>(local::pair(own, s, s)),
               "tartan: a descriptor was opened in strand [0-9]+ of another runtime, at .*; it was meant for the runtime "
               "that was made at .*outliving_test");
}

}  // namespace
}  // namespace tartan
