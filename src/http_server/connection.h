#pragma once
/// A connection of a server: its requests, one after the other.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tartan/core/channel.h>
#include <tartan/core/color.h>
#include <tartan/core/join_handle.h>
#include <tartan/core/result.h>
#include <tartan/core/task.h>
#include <tartan/http/request_parser.h>
#include <tartan/http_server/exchange.h>
#include <tartan/http_server/server.h>
#include <tartan/io/address.h>
#include <tartan/io/any_stream.h>

#include "http_io/wire.h"
#include "http_server/exchange_state.h"

namespace tartan::http::detail {

class server_state;

/// Color: its stream's, but for call(), which goes to the route's.
/// Lifetime: its coroutine's, and that of the watch beside it.
class connection : public std::enable_shared_from_this<connection> {
 public:
  connection(std::shared_ptr<server_state> of, std::uint64_t id, tartan::color where, address peer, bool is_refused);

  /// Until the connection has ended. `self` is kept by the coroutine's frame.
  static task<> run(std::shared_ptr<connection> self, any_stream accepted, std::shared_ptr<const listen_with> with);

  /// Ends when it is idle, or sends events; else behind the answer that is under way.
  void begin_closing();

  // What an exchange asks for.

  [[nodiscard]] task<result<>> send(exchange_state& x, reply whole);
  [[nodiscard]] task<result<>> begin(exchange_state& x, reply head, std::optional<std::uint64_t> length);
  [[nodiscard]] task<result<>> write(exchange_state& x, buf::chain piece);
  [[nodiscard]] task<result<>> end(exchange_state& x);
  [[nodiscard]] task<result<>> begin_events(exchange_state& x, reply head);
  /// Threads: any.
  [[nodiscard]] tartan::color where() const noexcept { return where_; }
  [[nodiscard]] any_stream& stream() noexcept { return wire_.peer(); }
  [[nodiscard]] const address& peer() const noexcept { return peer_; }

 private:
  task<> serve(any_stream accepted, const listen_with& with);
  task<bool> read_head();
  task<result<>> await_request(wire::time_point until);
  task<bool> answer();
  task<bool> call(exchange_state& x);
  task<bool> finish(exchange_state& x, bool has_failed);
  task<bool> drain(exchange_state& x);
  task<> refuse(status why);
  task<> stop_watching();
  static task<> watch(std::shared_ptr<connection> self);

  [[nodiscard]] result<buf::chain> open_answer(exchange_state& x, const reply& head,
                                               std::optional<std::uint64_t> length);
  [[nodiscard]] std::string head_of(exchange_state& x, const reply& from, std::optional<std::uint64_t> length,
                                    bool closes);
  [[nodiscard]] task<result<>> send_bytes(buf::chain all);
  void report(const failed_request& what) const noexcept;
  [[nodiscard]] task<bool> drop_body(exchange_state& x);

  std::shared_ptr<server_state> of_;
  std::uint64_t id_;
  tartan::color where_;
  address peer_;
  wire wire_;
  request_parser parser_;
  request head_;
  buf::slice head_bytes_;  ///< what head_ points into
  join_handle<> watch_;
  channel<bool> closing_{capacity{1}};  ///< closed when the server closes: ends the wait for another request
  exchange_state* current_ = nullptr;
  std::uint64_t requests_ = 0;
  bool is_refused_;
  bool is_closing_ = false;
  bool is_broken_ = false;  ///< nothing can be sent any more
  bool sends_events_ = false;
};

}  // namespace tartan::http::detail
