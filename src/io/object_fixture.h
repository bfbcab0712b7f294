#pragma once
/// For tests of objects with descriptors: a runtime on the kernel's sockets, and what every operation has to withstand.

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <tartan/core/on.h>
#include <tartan/core/post.h>
#include <tartan/core/runtime.h>
#include <tartan/core/spawn.h>
#include <tartan/core/yield.h>
#include <tartan/time/with_timeout.h>
#include <utility>

#include "core/root_registry.h"
#include "core/runtime_state.h"
#include "tests/workers.h"

namespace tartan::test {

/// The color of the objects under test.
inline constexpr color here_color{7};

/// One operation of an object, for what all operations have in common.
///
/// Object: what `make()` gives, in here_color; has close().
template <class Make, class Await, class Call, class Feed>
struct operation_under_test {
  Make make;    ///< () -> a pointer to an object whose operation has to wait
  Await await;  ///< (object&) -> the operation, to be awaited
  Call call;    ///< (object&, callback): the same operation
  Feed feed;    ///< (object&): now it can complete
};
template <class... Parts>
operation_under_test(Parts...) -> operation_under_test<Parts...>;

class with_objects : public on_workers {
 protected:
  void TearDown() override {
    if (rt_ != nullptr) {
      EXPECT_EQ(rt_->state().roots().size(), 0u) << "coroutines are left";
    }
    rt_.reset();
    on_workers::TearDown();
  }

  runtime& rt() {
    if (rt_ == nullptr) {
      options with = settings();
      with.stall_after = {};
      rt_ = std::make_unique<runtime>(with);
    }
    return *rt_;
  }
  void end_runtime() { rt_.reset(); }

  /// Runs a coroutine function in here_color until nothing is left.
  template <class F>
  void in_color(F f) {
    auto handle = spawn_in(rt(), here_color, f);
    handle.detach();
    rt().run_until_idle();
  }

  /// Every way in which an operation can end.
  template <class Operation>
  void ends_in_every_way(Operation op) {
    completes_at_once(op);
    completes_later(op);
    is_canceled(op);
    is_timed_out(op);
    is_closed_under(op);
    fails_on_a_closed_object(op);
    is_stopped(op);
  }

  template <class Operation>
  void completes_at_once(Operation& op) {
    SCOPED_TRACE("completes at once");
    int calls = 0;
    in_color([&]() -> task<> {
      auto object = op.make();
      op.feed(*object);
      const auto got = co_await op.await(*object);
      EXPECT_TRUE(got) << got.error().message();
      calls += got ? 1 : 0;
    });
    decltype(op.make()) object{};
    rt().post(here_color, [&] {
      object = op.make();
      op.feed(*object);
      op.call(*object, [&](auto got) {
        EXPECT_TRUE(got) << got.error().message();
        EXPECT_EQ(current_color(), here_color);
        ++calls;
      });
      EXPECT_EQ(calls, 1) << "called back inside the call";
    });
    rt().run_until_idle();
    EXPECT_EQ(calls, 2);
  }

  template <class Operation>
  void completes_later(Operation& op) {
    SCOPED_TRACE("completes later");
    int order = 0;
    int callback_at = 0;
    decltype(op.make()) object{};
    decltype(op.make()) other{};
    in_color([&]() -> task<> {
      object = op.make();
      other = op.make();
      op.call(*other, [&](auto got) {
        EXPECT_TRUE(got) << got.error().message();
        callback_at = ++order;
      });
      post(here_color, [&] {
        ++order;
        op.feed(*object);
        op.feed(*other);
      });
      const auto got = co_await op.await(*object);
      EXPECT_TRUE(got) << got.error().message();
      EXPECT_GE(order, 1);
    });
    EXPECT_EQ(callback_at, 2);
  }

  template <class Operation>
  void is_canceled(Operation& op) {
    SCOPED_TRACE("canceled");
    in_color([&]() -> task<> {
      auto object = op.make();
      auto waiting = spawn_in(here_color, [&]() -> task<> {
        const auto got = co_await op.await(*object);
        EXPECT_EQ(got.error(), errc::canceled);
      });
      bool called = false;
      co_await tartan::yield();
      op.call(*object, [&](auto got) {
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

  template <class Operation>
  void is_timed_out(Operation& op) {
    SCOPED_TRACE("timed out");
    in_color([&]() -> task<> {
      auto object = op.make();
      const auto got = co_await with_timeout(std::chrono::milliseconds{1}, op.await(*object));
      EXPECT_EQ(got.error(), errc::timed_out);
      op.feed(*object);  // what ended before has taken nothing
      const auto again = co_await op.await(*object);
      EXPECT_TRUE(again) << again.error().message();
    });
  }

  template <class Operation>
  void is_closed_under(Operation& op) {
    SCOPED_TRACE("closed under it");
    int ended = 0;
    in_color([&]() -> task<> {
      auto object = op.make();
      op.call(*object, [&](auto got) {
        EXPECT_EQ(got.error(), errc::closed);
        ++ended;
      });
      post(here_color, [&] {
        object->close();
        EXPECT_EQ(ended, 0);
      });
      const auto got = co_await op.await(*object);
      EXPECT_EQ(got.error(), errc::closed);
      ++ended;
    });
    EXPECT_EQ(ended, 2);
  }

  template <class Operation>
  void fails_on_a_closed_object(Operation& op) {
    SCOPED_TRACE("closed before");
    int ended = 0;
    in_color([&]() -> task<> {
      auto object = op.make();
      object->close();
      object->close();
      EXPECT_FALSE(object->is_open());
      const auto waited = co_await op.await(*object);
      EXPECT_EQ(waited.error(), errc::closed);
      op.call(*object, [&](auto got) {
        EXPECT_EQ(got.error(), errc::closed);
        ++ended;
      });
    });
    EXPECT_EQ(ended, 1);
  }

  /// The runtime is over then.
  template <class Operation>
  void is_stopped(Operation& op) {
    SCOPED_TRACE("after stop");
    int ended = 0;
    {
      decltype(op.make()) object{};
      spawn_in(rt(), here_color, [&]() -> task<> {
        object = op.make();
        op.call(*object, [&](auto got) {
          EXPECT_EQ(got.error(), object->is_open() ? errc::canceled : errc::closed);  // listeners close
          ++ended;
        });
        post(here_color, [&] { rt().stop(); });
        const auto got = co_await op.await(*object);
        EXPECT_EQ(got.error(), object->is_open() ? errc::canceled : errc::closed);
        ++ended;
        // What would have to wait is not even begun.
        const auto late = co_await op.await(*object);
        EXPECT_EQ(late.error(), object->is_open() ? errc::canceled : errc::closed);
        ++ended;
      }).detach();
      EXPECT_EQ(rt().run(), 0);
    }
    EXPECT_EQ(ended, 3);
    end_runtime();
  }

 private:
  std::unique_ptr<runtime> rt_;
};

/// The bytes of a text.
inline std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span{text});
}

}  // namespace tartan::test
