#pragma once
/// For tests of objects with descriptors: every way in which an operation can end that moves all of its bytes, or none.

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <system_error>
#include <tartan/core/post.h>
#include <tartan/core/result.h>
#include <tartan/core/spawn.h>
#include <tartan/core/task.h>
#include <tartan/core/yield.h>
#include <tartan/time/with_timeout.h>

#include "io/machine_fixture.h"
#include "io/object_under_test.h"

namespace tartan::test {

/// Base: on_machine, with a parameter.
template <class Base>
class endings_on : public Base {
 protected:
  using Base::arrival;
  using Base::end_runtime;
  using Base::in_color;
  using Base::rt;
  using Base::simulated;
  using Base::until;

  void completes_at_once(const maker& make, fed how) {
    SCOPED_TRACE("completes at once");
    int calls = 0;
    in_color([&]() -> task<> {
      auto object = co_await make();
      object->feed();
      co_await arrival();
      bool others = false;
      post(here_color, [&] { others = true; });
      const auto got = co_await object->await();
      EXPECT_TRUE(got) << got.error().message();
      EXPECT_FALSE(others && how == fed::is_ready && !simulated()) << "it has waited";
      calls += got ? 1 : 0;
      object = co_await make();
      object->feed();
      co_await arrival();
      object->call([&](result<> called) {
        EXPECT_TRUE(called) << called.error().message();
        EXPECT_EQ(current_color(), here_color);
        ++calls;
      });
      EXPECT_EQ(calls, 1) << "called back inside the call";
      co_await until([&] { return calls == 2; });
    });
    EXPECT_EQ(calls, 2);
  }

  void completes_later(const maker& make) {
    SCOPED_TRACE("completes later");
    int order = 0;
    int callback_at = 0;
    in_color([&]() -> task<> {
      auto object = co_await make();
      auto other = co_await make();
      other->call([&](result<> got) {
        EXPECT_TRUE(got) << got.error().message();
        callback_at = ++order;
      });
      post(here_color, [&] {
        ++order;
        object->feed();
        other->feed();
      });
      const auto got = co_await object->await();
      EXPECT_TRUE(got) << got.error().message();
      EXPECT_GE(order, 1);
      co_await until([&] { return callback_at != 0; });
    });
    EXPECT_EQ(callback_at, 2);
  }

  void is_canceled(const maker& make) {
    SCOPED_TRACE("canceled");
    in_color([&]() -> task<> {
      auto object = co_await make();
      auto waiting = spawn_in(here_color, [&]() -> task<> {
        const auto got = co_await object->await();
        EXPECT_EQ(got.error(), errc::canceled);
      });
      bool called = false;
      co_await tartan::yield();
      object->call([&](result<> got) {
        EXPECT_EQ(got.error(), errc::canceled);
        called = true;
      });
      waiting.cancel();
      co_await waiting.join();
      EXPECT_FALSE(called);
      object->cancel();
      co_await tartan::yield();
      co_await tartan::yield();
      EXPECT_TRUE(called);
    });
  }

  void is_timed_out(const maker& make) {
    SCOPED_TRACE("timed out");
    in_color([&]() -> task<> {
      auto object = co_await make();
      const auto got = co_await with_timeout(std::chrono::milliseconds{1}, object->await());
      EXPECT_EQ(got.error(), errc::timed_out);
      object->feed();  // what ended before has taken nothing
      const auto again = co_await object->await();
      EXPECT_TRUE(again) << again.error().message();
    });
  }

  void is_closed_under(const maker& make) {
    SCOPED_TRACE("closed under it");
    int ended = 0;
    in_color([&]() -> task<> {
      auto object = co_await make();
      object->call([&](result<> got) {
        EXPECT_EQ(got.error(), errc::closed);
        ++ended;
      });
      post(here_color, [&] {
        object->close();
        EXPECT_EQ(ended, 0);
      });
      const auto got = co_await object->await();
      EXPECT_EQ(got.error(), errc::closed);
      ++ended;
    });
    EXPECT_EQ(ended, 2);
  }

  void fails_on_a_closed_object(const maker& make) {
    SCOPED_TRACE("closed before");
    int ended = 0;
    in_color([&]() -> task<> {
      auto object = co_await make();
      object->close();
      object->close();
      EXPECT_FALSE(object->is_open());
      const auto waited = co_await object->await();
      EXPECT_EQ(waited.error(), errc::closed);
      object->call([&](result<> got) {
        EXPECT_EQ(got.error(), errc::closed);
        ++ended;
      });
    });
    EXPECT_EQ(ended, 1);
  }

  void is_stopped(const maker& make, fed how) {
    SCOPED_TRACE("after stop");
    int ended = 0;
    spawn_in(rt(), here_color, [&]() -> task<> {
      auto object = co_await make();
      auto ready = co_await make();
      ready->feed();
      co_await arrival();
      object->call([&](result<> got) {
        EXPECT_EQ(got.error(), errc::canceled);  // also a listener's, which closes then
        ++ended;
      });
      post(here_color, [&] { rt().stop(); });
      const auto got = co_await object->await();
      EXPECT_EQ(got.error(), errc::canceled);
      ++ended;
      // What would have to wait is not even begun.
      const auto late = co_await object->await();
      EXPECT_EQ(late.error(), object->is_open() ? errc::canceled : errc::closed);
      ++ended;
      object->call([&](result<> last) {
        EXPECT_EQ(last.error(), object->is_open() ? errc::canceled : errc::closed);
        ++ended;
      });
      // A callback's operation that need not wait is done: a last word.
      ready->call([&, may = ready->is_open()](result<> last) {
        if (how == fed::is_ready && !simulated()) {
          EXPECT_EQ(last.error(), may ? std::error_code{} : make_error_code(errc::closed));
        }
        ++ended;
      });
      while (ended < 5) co_await tartan::yield();
    }).detach();
    EXPECT_EQ(rt().run(), 0);
    EXPECT_EQ(ended, 5);
    end_runtime();
  }
};

}  // namespace tartan::test
