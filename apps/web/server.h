#pragma once
/// Accepts connections, and ends them.

#include <tartan/core/runtime.h>
#include <tartan/core/semaphore.h>
#include <tartan/core/task.h>
#include <tartan/core/task_group.h>
#include <tartan/io/tcp.h>
#include <tartan/tls/server.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "web/connection.h"
#include "web/settings.h"
#include "web/site.h"

namespace web {

/// Color: the default one, for all that is here; each connection has a color of its own.
/// Lifetime: until run and drain have ended.
class server {
 public:
  enum class ports { open, closed };

  /// Listens; with `ports::closed` it does not, for who only wants to know whether all else can be used.
  ///
  /// Errors: std::runtime_error, std::invalid_argument: no such folder, port in use, no address, a log or certificate that cannot be used.
  server(tartan::runtime& rt, const settings& with, ports which = ports::open);

  /// When this process has other rights than when the server was made. Blocks as long as the disk takes.
  ///
  /// Errors: std::runtime_error, for a folder in which it may not open files any more.
  void check_folders() const;

  /// Where it listens.
  struct place {
    tartan::address at;
    bool is_secure = false;
  };
  /// In the order of the settings.
  [[nodiscard]] std::vector<place> places() const;

  /// Accepts until drain. What one connection lacks, memory or a thread for the disk, ends that connection; where the runtime itself has
  /// no memory left, it ends the program.
  tartan::task<> run();

  /// Opens the access log anew, and serves by what `read` gives: requests whose head has not been read yet, and
  /// certificates for the connections that come from then on. What needs a new start, as the addresses, stays as it is,
  /// with a line on stderr. If anything cannot be used, `read` throws, or memory runs out, all but the log stays as it
  /// was for every connection, with a line that says why. A second reload waits for the first, and stands for all that
  /// come meanwhile; while the server drains, nothing is done.
  ///
  /// `read` is called on a thread that may block.
  [[nodiscard]] tartan::task<> reload(std::function<settings()> read);

  /// Opens the access log anew, after it was renamed, and nothing else. A file that cannot be opened is told on stderr, and the old one written on.
  ///
  /// Errors: none; without memory for it nothing happens, and a line on stderr says so.
  void reopen_log() noexcept;

  /// Accepts no more, closes idle connections, lets requests in progress end, also those of who was accepted and has no place yet, for as long as the
  /// settings say; then ends them too, and says on stderr how many. Gives false if the disk hangs: what it has begun cannot be called off, and is not
  /// waited for longer than 5 s; nor is, then, the access log, so that all ends within 10 s more than the settings say.
  ///
  /// Errors: none: what it lacks memory for is tried again until its time is over. The task itself is best made in good
  /// time.
  tartan::task<bool> drain();

 private:
  struct door {
    tartan::tcp::listener at;
    bool is_secure = false;  ///< speaks TLS
  };
  struct renewal;
  struct candidate {
    std::uint64_t number;
    connection::leave_offer how;

    /// Goes rather than that one.
    [[nodiscard]] bool operator<(const candidate& other) const noexcept {
      if (how.at_once != other.how.at_once) return how.at_once;
      if (how.soon != other.how.soon && !how.at_once) return how.soon;
      return how.at_once ? how.waits_since < other.how.waits_since : how.open_since < other.how.open_since;
    }
  };
  void open_doors();
  [[nodiscard]] bool tell_to_drain(std::uint64_t& last_told) noexcept;
  tartan::task<> end_connections();
  tartan::task<> cut_off();
  tartan::task<> end_sweeps();
  tartan::task<> write_log(tartan::task<> flushed);
  tartan::task<> flush_log(std::shared_ptr<tartan::apps::line_log> until_then);
  tartan::task<> accept_from(door& at);
  void admit(tartan::tcp::stream peer, bool is_secure);
  tartan::task<tartan::result<tartan::semaphore::permit>> take_room();
  /// Those who have to go.
  struct departure {
    std::chrono::milliseconds so_long;  ///< to wait for their places
    std::size_t told = 0;
  };
  tartan::task<std::chrono::milliseconds> make_room(std::size_t most);
  tartan::task<departure> ask_to_leave(std::size_t among, std::size_t most);
  static tartan::task<candidate> ask(std::uint64_t number, const connection& client);
  tartan::task<> serve(std::unique_ptr<connection> client, std::uint64_t number);
  void complain(const std::exception_ptr& why) noexcept;
  [[nodiscard]] renewal prepare(settings with) const;
  void take(renewal& made);
  void tell_of_failure(const std::exception& wrong, bool is_log_anew) const noexcept;
  void limit_connections();

  const std::shared_ptr<tartan::semaphore> sweeps_ = std::make_shared<tartan::semaphore>(library::most_sweeps);  ///< of all its sites' libraries
  std::vector<tartan::semaphore::permit> no_sweeps_;  ///< all of them, when it ends
  const std::shared_ptr<shortage> shortage_;  ///< of descriptors, wherever it is met
  std::unique_ptr<tartan::apps::line_log> log_;  ///< null: none was ever wanted
  std::shared_ptr<site> site_;       ///< for connections that come; each has its own
  std::vector<door> doors_;
  std::unique_ptr<tartan::tls::server> tls_;  ///< null: no certificates are needed
  tartan::semaphore room_{1};  ///< for one connection more; each door may have accepted one, which waits for it
  tartan::semaphore::permit full_;  ///< room_'s, while there are as many as there may be
  std::map<std::uint64_t, connection*> open_;  ///< in the order in which they came: those that drain has to tell
  std::uint64_t admitted_ = 0;                 ///< connections so far
  std::uint64_t asked_last_ = 0;               ///< whether it may leave, as long as there was no place
  std::chrono::steady_clock::time_point somebody_left_{};  ///< when somebody had to, for want of places
  tartan::semaphore accepting_{1};  ///< run's, until it ends
  tartan::semaphore sheds_{1};  ///< to ask all to leave that are more than there may be
  tartan::task_group connections_;
  tartan::semaphore reloads_{1};
  bool reload_waits_ = false;  ///< one more would read the same
  bool draining_ = false;
  std::chrono::steady_clock::time_point drain_ends_{};  ///< then those that are left are cut off
  std::size_t cut_off_ = 0;  ///< connections, by the end of the time to drain
  std::size_t untold_ = 0;  ///< connections that have ended badly since the last complaint
  std::chrono::steady_clock::time_point next_complaint_{};
};

}  // namespace web
