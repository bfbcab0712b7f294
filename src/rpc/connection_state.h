#pragma once
/// A connection: what its handles, its coroutines and its calls share.

#include <chrono>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <source_location>
#include <system_error>
#include <tartan/core/channel.h>
#include <tartan/core/join_handle.h>
#include <tartan/core/post.h>
#include <tartan/core/semaphore.h>
#include <tartan/core/task_group.h>
#include <tartan/rpc/connection.h>
#include <unordered_map>
#include <vector>

#include "rpc/message.h"
#include "rpc/one_shot.h"
#include "rpc/pending_call.h"
#include "rpc/transport.h"

namespace tartan::rpc::detail {

class connection_owner;

/// Errors: std::invalid_argument, as settings says.
void check(const settings& with);
/// Says on stderr what has failed, and why.
void report_exception(const char* what, std::exception_ptr thrown) noexcept;

/// One coroutine reads; another writes while the peer does not take what is sent. Both end before run() does.
///
/// Color: the connection's, unless a member says otherwise.
class connection_state : public std::enable_shared_from_this<connection_state> {
 public:
  connection_state(tartan::detail::runtime_state& rt, std::unique_ptr<transport> over, settings&& with,
                   std::shared_ptr<const programs> serves);
  connection_state(const connection_state&) = delete;
  connection_state& operator=(const connection_state&) = delete;
  ~connection_state();

  // Color: any.

  const settings with;
  [[nodiscard]] color where() const noexcept { return where_; }
  /// The runtime's clock.
  [[nodiscard]] std::chrono::steady_clock::time_point now() const noexcept;
  [[nodiscard]] semaphore& places() noexcept { return places_; }
  /// Null: none.
  [[nodiscard]] duplicate_cache* duplicates() const noexcept { return duplicates_.get(); }
  [[nodiscard]] one_shot::wait ended() noexcept { return ended_.happens(); }
  /// Why it has ended. Once it has.
  [[nodiscard]] std::error_code end_reason() const noexcept { return reason_; }
  /// Runs f in the connection's color: at once if this is it.
  template <class F>
  void here(F&& f) {
    if (in_event() && current_color() == where_) {
      f();
    } else {
      static_cast<void>(tartan::detail::post_event(*rt_, where_, std::forward<F>(f), std::source_location::current()));
    }
  }
  /// Begins to read.
  void start(const std::shared_ptr<connection_owner>& owner);

  // Calls out.
  void begin(const std::shared_ptr<pending_call>& one);
  void forget(const std::shared_ptr<pending_call>& one);

  // Replies out.
  void send(buf::chain message, const address& to, descriptors passed);
  [[nodiscard]] transport& over() noexcept { return *transport_; }
  /// Sends what is queued at the end of this event, or of the messages that are being read.
  void flush_soon();

  void end_handler(std::function<void(std::error_code)> f);
  /// Coroutines of procedures. Null: the connection has ended.
  [[nodiscard]] task_group* coroutines() noexcept { return coroutines_; }
  [[nodiscard]] bool is_over() const noexcept { return is_over_; }
  void close(std::error_code why);
  void drain();
  /// Calls f when no coroutine of this connection is left.
  void when_gone(std::function<void()> f);

  static task<result<>> replace(std::shared_ptr<connection_state> self, stream_upgrade how);

 private:
  struct replacement {
    stream_upgrade how;
    one_shot done{"a stream to be replaced"};
    std::error_code error;
  };

  /// A call that may not begin yet.
  struct parked_call {
    incoming came;
    call_header head;
  };

  static task<> run(std::shared_ptr<connection_state> self);

  // reading.cpp
  [[nodiscard]] task<std::error_code> receive();
  [[nodiscard]] task<result<>> fill();
  [[nodiscard]] task<std::error_code> take_messages();
  [[nodiscard]] std::error_code take_message(incoming&& came);
  void take_or_park(incoming&& came, call_header& head);
  static task<> start_parked(std::shared_ptr<connection_state> self);
  [[nodiscard]] bool is_paused() const noexcept;
  [[nodiscard]] bool is_idle() const noexcept;
  void wake_reader();
  void interrupt_reader();
  [[nodiscard]] task<result<>> upgrade();
  static task<> finish(std::shared_ptr<connection_state> self);

  // serving.cpp
  void take_call(incoming&& came, call_header& head, semaphore::permit&& permit);
  void begin_call(call_info& info, incoming&& came, std::unique_ptr<reply_path>& path);
  [[nodiscard]] bool is_refused(const call_info& info, std::unique_ptr<reply_path>& path);
  [[nodiscard]] bool is_repeated(const call_info& info, const buf::chain& arguments, reply_path& path);
  void refuse_version(std::uint32_t xid, const address& to);

  void take_reply(const reply_header& head, incoming&& came);
  void remove(const std::shared_ptr<pending_call>& one);
  static task<> send_held(std::shared_ptr<connection_state> self);
  void flush();
  static task<> write(std::shared_ptr<connection_state> self);
  void send_call(pending_call& one);
  void arm(const std::shared_ptr<pending_call>& one);
  void time_is_up(const std::shared_ptr<pending_call>& one);
  void end(std::error_code why);

  tartan::detail::runtime_state* const rt_;
  std::unique_ptr<transport> transport_;
  const color where_;
  const address peer_;
  std::shared_ptr<const programs> programs_;
  std::shared_ptr<duplicate_cache> duplicates_;
  std::weak_ptr<connection_owner> owner_;
  const std::uint64_t identity_;  ///< no other connection has it
  std::uint32_t next_xid_;
  semaphore places_;       ///< of own calls
  semaphore in_progress_;  ///< of the peer's
  std::unordered_map<std::uint32_t, std::shared_ptr<pending_call>> outstanding_;
  std::vector<std::function<void(std::error_code)>> end_handlers_;
  std::vector<std::function<void()>> gone_handlers_;
  std::shared_ptr<replacement> replacement_;  ///< until it has happened
  std::deque<parked_call> parked_;
  std::deque<std::shared_ptr<pending_call>> held_;  ///< outstanding, and not sent
  channel<bool> wake_{capacity{1}};                 ///< of the reader while it is paused
  join_handle<result<>> reading_;                   ///< while the reader waits for bytes
  join_handle<> starting_;                          ///< of start_parked(), while that runs
  join_handle<> finishing_;                         ///< of finish()
  join_handle<> life_;                              ///< of run()
  task_group* coroutines_ = nullptr;
  one_shot ended_{"the end of an RPC connection"};
  std::error_code reason_;
  bool reads_ = false;  ///< messages are being taken: what they queue is sent behind them
  bool flush_posted_ = false;
  bool writes_ = false;        ///< write() has begun
  bool sends_held_ = false;    ///< send_held() has begun
  bool is_replacing_ = false;  ///< nothing is sent
  bool drains_ = false;        ///< no further call is taken
  bool has_finished_ = false;  ///< each call that was taken is answered
  bool is_over_ = false;
  bool is_gone_ = false;
};

/// What handles share: the connection closes with the last one.
class connection_owner {
 public:
  explicit connection_owner(std::shared_ptr<connection_state> of) noexcept : of_{std::move(of)} {}
  connection_owner(const connection_owner&) = delete;
  connection_owner& operator=(const connection_owner&) = delete;
  ~connection_owner();

  [[nodiscard]] const std::shared_ptr<connection_state>& state() const noexcept { return of_; }

 private:
  std::shared_ptr<connection_state> of_;
};

}  // namespace tartan::rpc::detail
