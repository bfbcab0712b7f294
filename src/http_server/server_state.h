#pragma once
/// What a server's listeners and connections share.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <tartan/core/channel.h>
#include <tartan/core/join_handle.h>
#include <tartan/core/runtime.h>
#include <tartan/core/strand.h>
#include <tartan/core/task.h>
#include <tartan/http_server/server.h>
#include <tartan/io/any_stream.h>
#include <unordered_map>
#include <vector>

#include "http_server/router.h"

namespace tartan::http::detail {

class connection;

/// Color: its strand's, unless a member says otherwise.
class server_state : public std::enable_shared_from_this<server_state> {
 public:
  server_state(runtime& rt, server_settings with);

  /// Do not change while connections are served.
  router routes;
  const server_settings settings;

  /// Threads: any.
  template <class Listener>
  void serve(Listener from, listen_with with);
  [[nodiscard]] color where() const noexcept { return strand_.value(); }
  [[nodiscard]] runtime& rt() noexcept { return *rt_; }
  void remove(std::uint64_t connection);
  void cancel(std::uint64_t connection);
  /// Ends everything, as soon as possible.
  void abandon();

  /// Color: any.
  static task<> close(std::shared_ptr<server_state> self, std::chrono::nanoseconds within);
  static task<std::size_t> count(std::shared_ptr<server_state> self);

 private:
  struct entry {
    join_handle<> coroutine;
    std::weak_ptr<connection> served;
  };

  template <class Listener>
  static task<> accept(std::shared_ptr<server_state> self, Listener from, std::shared_ptr<const listen_with> with);
  void add(any_stream accepted, address peer, std::shared_ptr<const listen_with> with);
  void begin_close();
  void cancel_all();
  void check_ended();

  runtime* rt_;
  strand strand_;
  std::unordered_map<std::uint64_t, entry> connections_;
  std::vector<join_handle<>> listeners_;
  std::size_t accepting_ = 0;  ///< listeners that have not ended
  std::uint64_t next_id_ = 0;
  bool is_closing_ = false;
  channel<bool> ended_{capacity{1}};  ///< closed when nothing is left
};

}  // namespace tartan::http::detail
