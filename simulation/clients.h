#pragma once
// The clients of a simulated server, and the network between: who asks when.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <queue>
#include <vector>

#include "simulation/machine.h"
#include "simulation/program.h"
#include "simulation/socket_poller.h"

namespace simulation {

/// A closed loop, on no core: each client connects, asks, has its answer, asks again, and when it has asked so many times on one connection, it
/// closes that and connects anew. What it takes from an answer to the next edge at the server, network and client together, is drawn from a fixed
/// sequence, from half to one and a half of `web_client_ns`; a first request comes with its connection.
///
/// Descriptors are marks of the poller: the listener is 0, and a client has two of its own, in turn.
/// Threads: a core; what is done is done at its clock, and costs nothing here.
class clients {
 public:
  using mark = socket_poller::mark;
  static constexpr mark door = 0;

  /// `order`: "clients" of them, "requests" on each connection (0: no end); `size` answers are measured, after a
  /// quarter as many, and not before each client has had two.
  clients(const order& what, socket_poller& tells);

  /// From now on they come.
  void begin();

  [[nodiscard]] std::size_t marks() const noexcept { return 1 + 2 * clients_.size(); }
  /// The next one that waits at the door. False: nobody does.
  [[nodiscard]] bool accept(mark& into) noexcept;
  /// Whether it has closed, so that a read gives the end.
  [[nodiscard]] bool has_closed(mark at) const noexcept { return at != mark_of(of(at)); }
  /// The server has seen that, and closed too.
  void closed(mark at) noexcept;
  /// The server has sent an answer. True: it was the last that is measured, and nobody asks any more.
  [[nodiscard]] bool answered(mark at) noexcept;

  /// Of the answers after those of the warm-up: rate, processor time of all workers, delays at the server, and how evenly they were dealt.
  [[nodiscard]] figures measured(unsigned workers) const;

 private:
  struct client {
    unsigned uses = 1;         ///< which of its two marks
    std::size_t left = 0;      ///< requests on this connection
    std::uint64_t drawn = 0;
    std::size_t starts = 2;     ///< answers until it has had two
    std::uint64_t answers = 0;  ///< that are measured
    picoseconds asked = 0;     ///< when its last request was at the server
    bool open[2] = {};         ///< the server has not closed that one yet
  };
  /// An edge that is on its way.
  struct due {
    picoseconds when;
    std::uint64_t number;  ///< of two at one time, who was sent first
    mark at;
    bool connects;         ///< it waits at the door
    bool operator<(const due& other) const noexcept { return when != other.when ? when > other.when : number > other.number; }
  };

  [[nodiscard]] client& of(mark at) noexcept { return clients_[(at - 1) % clients_.size()]; }
  [[nodiscard]] const client& of(mark at) const noexcept { return clients_[(at - 1) % clients_.size()]; }
  [[nodiscard]] mark mark_of(const client& c) const noexcept {
    return static_cast<mark>(1 + static_cast<std::size_t>(&c - clients_.data()) + c.uses * clients_.size());
  }
  [[nodiscard]] picoseconds delay(client& of) const noexcept;
  void send(mark at, picoseconds when, bool connects);
  void connect(client& c, picoseconds when);
  void arrive(picoseconds when) noexcept;
  [[nodiscard]] double jain() const noexcept;

  socket_poller& tells_;
  const picoseconds mean_;
  const std::size_t each_;
  const std::size_t warm_up_;
  const std::size_t size_;
  std::vector<client> clients_;
  std::priority_queue<due> due_;
  std::deque<mark> backlog_;
  std::vector<picoseconds> late_;
  std::uint64_t sent_ = 0;
  std::size_t answers_ = 0;       ///< all, and when it is measured those alone
  std::size_t starters_;  ///< clients that have not had two answers
  std::size_t connections_ = 0;
  picoseconds began_ = 0;
  picoseconds ended_ = 0;
  picoseconds slept_before_ = 0;
  picoseconds slept_ = 0;
  bool over_ = false;
};

}  // namespace simulation
