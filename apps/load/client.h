#pragma once
/// One who asks.

#include <tartan/core/result.h>
#include <tartan/core/semaphore.h>
#include <tartan/core/task.h>
#include <tartan/io/tcp.h>
#include <tartan/time/timer.h>
#include <tartan/tls/stream.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <system_error>

#include "load/measure.h"
#include "load/plan.h"
#include "load/random.h"
#include "load/response_reader.h"
#include "load/settings.h"

namespace load {

/// What all clients share.
struct load_state {
  tartan::runtime& runtime;
  const load_settings& settings;
  const plan& pages;
  measure& counts;
  tartan::semaphore& connects;      ///< how many connect at a time: more would only fill the server's backlog
  std::function<void()> arrived;    ///< called once by each client, when its first connection has succeeded or failed
  std::function<void()> complete;   ///< called by the one whose answer was the last that was wanted
};

/// Connects, asks, checks the answer, and asks again; one request at a time.
///
/// Color: its own, that of all its streams.
class client {
 public:
  client(load_state& of, std::uint64_t number);

  /// Until it is canceled. When the interval is over it asks no more, but keeps its connection: others may not be ready yet, and what a
  /// connection costs the server is looked at.
  tartan::task<> run();

  /// After that.
  [[nodiscard]] std::uint64_t answers() const noexcept { return answers_; }
  /// Got nothing, though it wanted something.
  [[nodiscard]] bool is_starved() const noexcept { return answers_ == 0 && (!is_paced() || due_ < load_.counts.ended_at()); }
  [[nodiscard]] bool was_connected() const noexcept { return was_connected_; }
  /// How long the request has waited that had no answer at the end; 0 if there was none.
  [[nodiscard]] std::uint64_t waits() const noexcept;

 private:
  enum class ending : std::uint8_t { renewed, failed };
  enum class verdict : std::uint8_t { more, next, last, failed };  ///< more bytes; more requests on this connection; none

  tartan::task<> ask();
  static tartan::task<> stay();
  tartan::task<ending> use_connection();
  tartan::task<bool> open();
  [[nodiscard]] bool is_open() const noexcept { return site_.secure != nullptr ? sealed_.is_open() : stream_.is_open(); }
  void close();
  tartan::task<bool> wait_until_due();
  tartan::task<verdict> receive();
  tartan::task<bool> pause(std::size_t bytes);

  [[nodiscard]] bool is_paced() const noexcept { return period_ != 0; }
  void begin_request();
  void end_request();
  void give_up_claim();
  /// The server may have closed the connection before the request, while it was idle, as that of an open loop may be. The client asks again,
  /// without an error.
  [[nodiscard]] bool is_late() const noexcept { return has_idled_ && !has_received_ && !timed_out_; }
  [[nodiscard]] bool is_long() const noexcept { return kept_ == 0 && reader_.in_body() && reader_.left() >= small; }
  [[nodiscard]] std::span<std::byte> room();
  [[nodiscard]] verdict take(std::size_t bytes);
  [[nodiscard]] verdict judge();
  [[nodiscard]] bool is_as_expected();
  [[nodiscard]] verdict end_of_input(std::error_code why);
  void fail(error_kind what);
  void arrive();
  void watch(std::int64_t from);
  void look_at_clock();
  void count_rest();
  [[nodiscard]] bool is_in_time() const noexcept { return now_ < load_.counts.ended_at(); }

  static constexpr std::size_t small = 8192;       ///< holds a head
  static constexpr std::size_t large = 64 * 1024;  ///< while a longer body comes
  static constexpr std::size_t kept_of_unknown = 64 * 1024;
  static constexpr std::size_t kept_of_pattern = std::size_t{256} << 20;  ///< of a body that may have no end

  load_state& load_;
  const site& site_;
  random_source chance_;
  response_reader reader_;
  tartan::tcp::stream stream_;  ///< of a server that speaks plain HTTP
  tartan::tls::stream sealed_;  ///< of one that speaks TLS
  tartan::timer timer_;
  const page* page_ = nullptr;      ///< what is asked for
  std::string collected_;           ///< of a body of which nobody knows yet what it has to be
  std::size_t kept_ = 0;            ///< bytes at the front of in_ that are a part of a head
  std::int64_t now_ = 0;
  std::int64_t asked_at_ = 0;       ///< when the answer's time begins to count
  std::int64_t waiting_since_ = 0;  ///< for what the timeout is
  std::int64_t due_ = 0;            ///< open loop: of the next request, or the one that is asked
  std::int64_t period_ = 0;         ///< open loop: between two requests
  std::uint64_t answers_ = 0;       ///< in what is measured
  std::uint64_t asked_here_ = 0;    ///< requests before this one, on this connection
  bool has_arrived_ = false;
  bool was_connected_ = false;      ///< at the end
  bool is_waiting_ = false;         ///< since asked_at_, for an answer that had not come when what is measured ended
  bool has_received_ = false;       ///< a byte of the answer
  bool has_failed_ = false;         ///< the request
  bool has_idled_ = false;          ///< open loop: the connection, before the request was due
  bool timed_out_ = false;
  bool is_claimant_ = false;        ///< keeps all of a body of which nobody knows yet what it has to be
  std::unique_ptr<std::byte[]> in_;
  std::unique_ptr<std::byte[]> long_in_;
};

}  // namespace load
