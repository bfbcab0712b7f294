#pragma once
/// What answers requests: functions of several shapes behind one type. Library code; programs give functions to server.

#include <memory>
#include <tartan/core/event.h>
#include <tartan/core/task.h>
#include <tartan/http_server/exchange.h>
#include <tartan/http_server/reply.h>
#include <type_traits>
#include <utility>

namespace tartan::http::detail {

/// A function that gives a reply.
template <class F>
concept plain_handler = std::is_invocable_r_v<reply, F&, exchange&> && !tartan::detail::makes_task<F&, exchange&>;

/// A coroutine that gives a reply, or that answers by the exchange and gives nothing.
template <class F>
concept coroutine_handler = tartan::detail::makes_task<F&, exchange&>;

template <class F>
concept answers_requests = plain_handler<std::decay_t<F>> || coroutine_handler<std::decay_t<F>>;

class handler {
 public:
  handler() = default;
  handler(const handler&) = delete;
  handler& operator=(const handler&) = delete;
  virtual ~handler() = default;
  [[nodiscard]] virtual task<> answer(exchange& x) = 0;
};

template <class F>
class handler_of final : public handler {
 public:
  explicit handler_of(F f) : f_{std::move(f)} {}

  task<> answer(exchange& x) override {
    if constexpr (plain_handler<F>) {
      reply whole = f_(x);
      static_cast<void>(co_await x.send(std::move(whole)));
    } else if constexpr (std::is_void_v<typename std::invoke_result_t<F&, exchange&>::value_type>) {
      co_await f_(x);
    } else {
      reply whole = co_await f_(x);
      static_cast<void>(co_await x.send(std::move(whole)));
    }
  }

 private:
  F f_;
};

}  // namespace tartan::http::detail
