#pragma once
/// For tests of objects with descriptors: a runtime on the kernel's sockets, and what every operation has to withstand.

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <tartan/core/on.h>
#include <tartan/core/post.h>
#include <tartan/core/runtime.h>
#include <tartan/core/result.h>
#include <tartan/core/spawn.h>
#include <tartan/core/task.h>
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
template <class Make, class Await, class Call, class Feed>
struct operation_under_test {
  Make make;    ///< () -> a unique_ptr to an object whose operation has to wait; the object has close, cancel and is_open
  Await await;  ///< (object&) -> the operation, to be awaited
  Call call;    ///< (object&, callback): the same operation
  Feed feed;    ///< (object&): now it can complete
};
template <class... Parts>
operation_under_test(Parts...) -> operation_under_test<Parts...>;

/// An object and its operation behind one type, so that what is common is compiled once.
class object_under_test {
 public:
  object_under_test() = default;
  object_under_test(const object_under_test&) = delete;
  object_under_test& operator=(const object_under_test&) = delete;
  virtual ~object_under_test() = default;
  virtual task<result<>> await() = 0;
  virtual void call(std::function<void(result<>)> f) = 0;
  virtual void feed() = 0;
  virtual void close() = 0;
  virtual void cancel() = 0;
  [[nodiscard]] virtual bool is_open() const = 0;
};

template <class Operation>
class object_of final : public object_under_test {
 public:
  explicit object_of(Operation& of) : of_{of}, object_{of.make()} {}
  task<result<>> await() override {
    auto got = co_await of_.await(*object_);
    if (!got) co_return got.error();
    co_return result<>{};
  }
  void call(std::function<void(result<>)> f) override {
    of_.call(*object_, [f = std::move(f)](auto got) { f(got ? result<>{} : result<>{got.error()}); });
  }
  void feed() override { of_.feed(*object_); }
  void close() override { object_->close(); }
  void cancel() override { object_->cancel(); }
  [[nodiscard]] bool is_open() const override { return object_->is_open(); }

 private:
  Operation& of_;
  decltype(std::declval<Operation&>().make()) object_;
};

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

  /// Every way in which an operation can end. The runtime is over then.
  template <class Operation>
  void ends_in_every_way(Operation op) {
    const maker make = [&op] { return std::make_unique<object_of<Operation>>(op); };
    completes_at_once(make);
    completes_later(make);
    is_canceled(make);
    is_timed_out(make);
    is_closed_under(make);
    fails_on_a_closed_object(make);
    is_stopped(make);
  }

 private:
  using maker = std::function<std::unique_ptr<object_under_test>()>;

  void completes_at_once(const maker& make) {
    SCOPED_TRACE("completes at once");
    int calls = 0;
    in_color([&]() -> task<> {
      auto object = make();
      object->feed();
      const auto got = co_await object->await();
      EXPECT_TRUE(got) << got.error().message();
      calls += got ? 1 : 0;
    });
    std::unique_ptr<object_under_test> object{};
    rt().post(here_color, [&] {
      object = make();
      object->feed();
      object->call([&](result<> got) {
        EXPECT_TRUE(got) << got.error().message();
        EXPECT_EQ(current_color(), here_color);
        ++calls;
      });
      EXPECT_EQ(calls, 1) << "called back inside the call";
    });
    rt().run_until_idle();
    EXPECT_EQ(calls, 2);
  }

  void completes_later(const maker& make) {
    SCOPED_TRACE("completes later");
    int order = 0;
    int callback_at = 0;
    std::unique_ptr<object_under_test> object{};
    std::unique_ptr<object_under_test> other{};
    in_color([&]() -> task<> {
      object = make();
      other = make();
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
    });
    EXPECT_EQ(callback_at, 2);
  }

  void is_canceled(const maker& make) {
    SCOPED_TRACE("canceled");
    in_color([&]() -> task<> {
      auto object = make();
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
      auto object = make();
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
      auto object = make();
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
      auto object = make();
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

  void is_stopped(const maker& make) {
    SCOPED_TRACE("after stop");
    int ended = 0;
    {
      std::unique_ptr<object_under_test> object{};
      spawn_in(rt(), here_color, [&]() -> task<> {
        object = make();
        object->call([&](result<> got) {
          EXPECT_EQ(got.error(), object->is_open() ? errc::canceled : errc::closed);  // listeners close
          ++ended;
        });
        post(here_color, [&] { rt().stop(); });
        const auto got = co_await object->await();
        EXPECT_EQ(got.error(), object->is_open() ? errc::canceled : errc::closed);
        ++ended;
        // What would have to wait is not even begun.
        const auto late = co_await object->await();
        EXPECT_EQ(late.error(), object->is_open() ? errc::canceled : errc::closed);
        ++ended;
      }).detach();
      EXPECT_EQ(rt().run(), 0);
    }
    EXPECT_EQ(ended, 3);
    end_runtime();
  }

  std::unique_ptr<runtime> rt_;
};

/// The bytes of a text.
inline std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span{text});
}

}  // namespace tartan::test
