#pragma once
/// For tests of objects with descriptors: what every operation has to withstand.

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <system_error>
#include <tartan/core/result.h>
#include <tartan/core/spawn.h>
#include <tartan/core/task.h>
#include <tartan/core/yield.h>
#include <tartan/time/with_timeout.h>
#include <type_traits>
#include <utility>

#include "io/ending_fixture.h"
#include "io/machine_fixture.h"
#include "io/object_under_test.h"

namespace tartan::test {

/// Base: on_machine, with a parameter.
template <class Base>
class with_objects_on : public endings_on<Base> {
 protected:
  using Base::arrival;
  using Base::in_color;
  using Base::simulated;
  using Base::until;

  /// Every way in which an operation can end. The runtime is over then.
  template <class Operation>
  void ends_in_every_way(Operation op, fed how = fed::is_ready) {
    no_part none;
    const maker make = maker_of(op, none);
    this->completes_at_once(make, how);
    this->completes_later(make);
    this->is_canceled(make);
    this->is_timed_out(make);
    this->is_closed_under(make);
    this->fails_on_a_closed_object(make);
    this->is_stopped(make, how);
  }

  /// And those that it has when a part of its bytes has been moved.
  template <class Operation, class Part>
  void ends_after_a_part(Operation op, Part part) {
    const maker make = maker_of(op, part);
    completes_after_a_part(make);
    is_canceled_after_a_part(make);
    is_timed_out_after_a_part(make);
    is_closed_after_a_part(make);
  }

  /// `spoil`: (object&), after which it fails with this error; before it is begun, while it waits, and when a part has been moved.
  template <class Operation, class Spoil, class Error, class Part = no_part>
  void fails_with(Operation op, Spoil spoil, Error error, Part part = {}) {
    const maker make = maker_of(op, part);
    using object = object_of<Operation, typename made_by<decltype(op.make())>::type, Part>;
    const spoiler break_it = [&spoil](object_under_test& o) { spoil(static_cast<object&>(o).object()); };
    fails_at_once(make, break_it, condition_of(error));
    fails_while_it_waits(make, break_it, condition_of(error));
  }

 private:
  using spoiler = std::function<void(object_under_test&)>;

  template <class Operation, class Part>
  static maker maker_of(Operation& op, Part& part) {
    return [&op, &part]() -> task<std::unique_ptr<object_under_test>> {
      using made = decltype(op.make());
      using object = typename made_by<made>::type;
      std::unique_ptr<object> plain;
      if constexpr (std::is_same_v<made, std::unique_ptr<object>>) {
        plain = op.make();
      } else {
        plain = co_await op.make();
      }
      std::unique_ptr<object_under_test> whole = std::make_unique<object_of<Operation, object, Part>>(op, part, std::move(plain));
      co_return whole;
    };
  }

  void completes_after_a_part(const maker& make) {
    SCOPED_TRACE("completes after a part");
    int ended = 0;
    in_color([&]() -> task<> {
      auto object = co_await make();
      auto waiting = spawn_in(here_color, [&]() -> task<> {
        const auto got = co_await object->await();
        EXPECT_TRUE(got) << got.error().message();
        ++ended;
      });
      co_await tartan::yield();
      object->half();
      co_await until([&] { return object->took_half(); });
      EXPECT_EQ(ended, 0);
      object->feed();
      co_await waiting.join();
      EXPECT_EQ(ended, 1);
      object = co_await make();
      object->half();  // is there before it begins
      object->call([&](result<> got) {
        EXPECT_TRUE(got) << got.error().message();
        ++ended;
      });
      co_await until([&] { return object->took_half(); });
      EXPECT_EQ(ended, 1);
      object->feed();
      co_await until([&] { return ended == 2; });
    });
    EXPECT_EQ(ended, 2);
  }

  void is_canceled_after_a_part(const maker& make) {
    SCOPED_TRACE("canceled after a part");
    int ended = 0;
    in_color([&]() -> task<> {
      auto object = co_await make();
      auto waiting = spawn_in(here_color, [&]() -> task<> {
        const result<> got = co_await object->await();
        EXPECT_EQ(got.error(), errc::canceled);
        ++ended;
      });
      co_await tartan::yield();
      object->half();
      co_await until([&] { return object->took_half(); });
      waiting.cancel();
      co_await waiting.join();
      object->expect_left();
      object = co_await make();
      object->half();
      object->call([&](result<> got) {
        EXPECT_EQ(got.error(), errc::canceled);
        ++ended;
      });
      co_await until([&] { return object->took_half(); });
      object->cancel();
      co_await until([&] { return ended == 2; });
      object->expect_left();
    });
    EXPECT_EQ(ended, 2);
  }

  void is_timed_out_after_a_part(const maker& make) {
    SCOPED_TRACE("timed out after a part");
    in_color([&]() -> task<> {
      auto object = co_await make();
      object->half();
      co_await arrival();
      // A simulated part may come in many small ones.
      const auto limit = simulated() ? std::chrono::seconds{1} : std::chrono::milliseconds{1};
      const auto got = co_await with_timeout(limit, object->await());
      EXPECT_EQ(got.error(), errc::timed_out);
      EXPECT_TRUE(object->took_half());
      object->expect_left();
    });
  }

  void is_closed_after_a_part(const maker& make) {
    SCOPED_TRACE("closed after a part");
    in_color([&]() -> task<> {
      auto object = co_await make();
      auto waiting = spawn_in(here_color, [&]() -> task<> {
        const result<> got = co_await object->await();
        EXPECT_EQ(got.error(), errc::closed);
      });
      co_await tartan::yield();
      object->half();
      co_await until([&] { return object->took_half(); });
      object->close();
      co_await waiting.join();
      object->expect_left();
    });
  }

  void fails_at_once(const maker& make, const spoiler& spoil, std::error_condition error) {
    SCOPED_TRACE("with error, at once");
    int ended = 0;
    in_color([&]() -> task<> {
      auto object = co_await make();
      spoil(*object);
      co_await arrival();
      const result<> at_once = co_await object->await();
      EXPECT_EQ(at_once.error(), error) << at_once.error().message();
      object = co_await make();
      spoil(*object);
      co_await arrival();
      object->call([&](result<> got) {
        EXPECT_EQ(got.error(), error) << got.error().message();
        ++ended;
      });
      co_await until([&] { return ended == 1; });
    });
    EXPECT_EQ(ended, 1);
  }

  void fails_while_it_waits(const maker& make, const spoiler& spoil, std::error_condition error) {
    SCOPED_TRACE("with error, while it waits");
    int ended = 0;
    in_color([&]() -> task<> {
      auto object = co_await make();
      auto other = co_await make();
      other->call([&](result<> got) {
        EXPECT_EQ(got.error(), error) << got.error().message();
        ++ended;
      });
      auto waiting = spawn_in(here_color, [&]() -> task<> {
        const result<> got = co_await object->await();
        EXPECT_EQ(got.error(), error) << got.error().message();
      });
      co_await tartan::yield();
      object->half();
      co_await until([&] { return object->took_half(); });
      EXPECT_EQ(ended, 0);
      spoil(*object);
      spoil(*other);
      co_await waiting.join();
      object->expect_left();
      co_await until([&] { return ended == 1; });
    });
    EXPECT_EQ(ended, 1);
  }
};

class on_kernel : public on_machine, public testing::WithParamInterface<unsigned> {
 protected:
  [[nodiscard]] place where() const final { return {machine::kernel, GetParam()}; }
};
class on_either_machine : public on_machine, public testing::WithParamInterface<place> {
 protected:
  [[nodiscard]] place where() const final { return GetParam(); }
};

/// For objects that only the kernel has, and for what only the kernel does.
class with_objects : public with_objects_on<on_kernel> {};
class with_objects_on_either : public with_objects_on<on_either_machine> {};

/// The bytes of a text.
inline std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span{text});
}

}  // namespace tartan::test
