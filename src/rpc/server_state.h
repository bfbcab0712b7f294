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
#include <tartan/rpc/server.h>
#include <unordered_map>
#include <vector>

namespace tartan::rpc::detail {

/// Color: its strand's, unless a member says otherwise.
class server_state : public std::enable_shared_from_this<server_state> {
 public:
  server_state(runtime& rt, std::shared_ptr<const programs> serves, server_settings&& with);

  // Threads: any.

  template <class Listener>
  void serve(Listener from, stream_upgrade seal);
  void serve(udp::socket from);
  [[nodiscard]] color where() const noexcept { return strand_.value(); }
  [[nodiscard]] runtime& rt() noexcept { return *rt_; }
  /// A datagram socket's color.
  void keep(strand one) {
    strand_.post(
        [self = shared_from_this(), one = std::move(one)]() mutable { self->colors_.push_back(std::move(one)); });
  }
  /// Ends everything, as soon as possible.
  void abandon();

  /// Color: any.
  static task<> close(std::shared_ptr<server_state> self, std::chrono::nanoseconds within);
  static task<std::size_t> count(std::shared_ptr<server_state> self);

 private:
  template <class Listener>
  static task<> accept(std::shared_ptr<server_state> self, Listener from, stream_upgrade seal);
  static task<> seal_and_add(std::shared_ptr<server_state> self, any_stream accepted, stream_upgrade seal,
                             settings with);
  void add(connection made);
  void remove(std::uint64_t id);
  void begin_close();
  void check_ended();

  runtime* rt_;
  strand strand_;
  std::shared_ptr<const programs> programs_;
  const server_settings with_;
  std::unordered_map<std::uint64_t, connection> connections_;
  std::vector<strand> colors_;
  std::vector<join_handle<>> listeners_;
  std::size_t accepting_ = 0;  ///< listeners that have not ended
  std::size_t sealing_ = 0;    ///< accepted streams that are not connections yet
  std::uint64_t next_id_ = 0;
  bool is_closing_ = false;
  channel<bool> ended_{capacity{1}};  ///< closed when nothing is left
};

}  // namespace tartan::rpc::detail
