#pragma once
/// For tests: an operation of an object with a descriptor, for what all operations have in common.

#include <cstdint>
#include <functional>
#include <memory>
#include <system_error>
#include <tartan/core/result.h>
#include <tartan/core/task.h>
#include <type_traits>
#include <utility>

namespace tartan::test {

/// One operation of an object, for what all operations have in common.
template <class Make, class Await, class Call, class Feed>
struct operation_under_test {
  Make make;    ///< () -> a unique_ptr to an object whose operation has to wait, or a task of one; it has close, cancel and is_open
  Await await;  ///< (object&) -> the operation, to be awaited
  Call call;    ///< (object&, callback): the same operation
  Feed feed;    ///< (object&): now it can complete
};
template <class... Parts>
operation_under_test(Parts...) -> operation_under_test<Parts...>;

/// How an operation that moves several bytes gets a part of them.
template <class Half, class Took, class Left>
struct part_of_operation {
  Half half;  ///< (object&): now it can move a part, and has to wait for the rest
  Took took;  ///< (object&) -> bool: it has
  Left left;  ///< (object&): expects what an operation that was not completed leaves behind
};
template <class... Parts>
part_of_operation(Parts...) -> part_of_operation<Parts...>;

struct no_part {};

/// Whether an operation completes at once if it was fed before.
enum class fed : std::uint8_t { is_ready, comes_later };

/// An error, of the system or of this library.
inline std::error_condition condition_of(std::error_code code) { return code.default_error_condition(); }
inline std::error_condition condition_of(std::errc code) { return make_error_condition(code); }
inline std::error_condition condition_of(errc code) { return make_error_code(code).default_error_condition(); }

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
  virtual void half() = 0;
  [[nodiscard]] virtual bool took_half() = 0;
  virtual void expect_left() = 0;
  virtual void close() = 0;
  virtual void cancel() = 0;
  [[nodiscard]] virtual bool is_open() const = 0;
};
using maker = std::function<task<std::unique_ptr<object_under_test>>()>;

template <class Operation, class Object, class Part>
class object_of final : public object_under_test {
 public:
  object_of(Operation& of, Part& part, std::unique_ptr<Object> object) : of_{of}, part_{part}, object_{std::move(object)} {}
  task<result<>> await() override {
    auto got = co_await of_.await(*object_);
    if (!got) co_return got.error();
    co_return result<>{};
  }
  void call(std::function<void(result<>)> f) override {
    of_.call(*object_, [f = std::move(f)](auto got) { f(got ? result<>{} : result<>{got.error()}); });
  }
  void feed() override { of_.feed(*object_); }
  void half() override {
    if constexpr (!std::is_same_v<Part, no_part>) part_.half(*object_);
  }
  [[nodiscard]] bool took_half() override {
    if constexpr (std::is_same_v<Part, no_part>) {
      return true;
    } else {
      return part_.took(*object_);
    }
  }
  void expect_left() override {
    if constexpr (!std::is_same_v<Part, no_part>) part_.left(*object_);
  }
  void close() override { object_->close(); }
  void cancel() override { object_->cancel(); }
  [[nodiscard]] bool is_open() const override { return object_->is_open(); }
  [[nodiscard]] Object& object() noexcept { return *object_; }

 private:
  Operation& of_;
  Part& part_;
  std::unique_ptr<Object> object_;
};

template <class T>
struct made_by {
  using type = typename T::element_type;
};
template <class T>
struct made_by<task<T>> {
  using type = typename T::element_type;
};

}  // namespace tartan::test
