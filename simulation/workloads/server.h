#pragma once
// What the simulated web servers have in common: descriptors whose readiness is an event of their color, handlers that take what they take, and
// the closed loop around them. Size: answers that are measured.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <tartan/core/hints.h>
#include <tartan/core/post.h>
#include <tartan/core/runtime.h>
#include <tartan/core/strand.h>
#include <utility>
#include <vector>

#include "core/memory.h"
#include "core/sched/annotation.h"
#include "core/submit.h"
#include "io/readiness.h"
#include "simulation/clients.h"
#include "simulation/handler.h"
#include "simulation/program.h"
#include "simulation/socket_poller.h"

namespace simulation {

using mark = clients::mark;

/// The lines of one connection that each of its requests changes: the socket's in the kernel, and the server's own.
class data_lines {
 public:
  explicit data_lines(std::size_t count) : lines_(count) {}

  /// Those from one share of them to another.
  void change(double from, double to) noexcept {
    const auto count = static_cast<double>(lines_.size());
    for (auto n = static_cast<std::size_t>(from * count); n < static_cast<std::size_t>(to * count); ++n) ++lines_[n].changed;
  }

 private:
  struct alignas(64) line {
    std::uint64_t changed = 0;
  };
  std::vector<line> lines_;
};

/// An open descriptor, as io_slot has it: one word between those who take edges and its color, and one event at most (docs/design/io.md).
/// What the event does is the server's.
template <class Server>
class alignas(64) descriptor {
 public:
  using word = tartan::detail::readiness<tartan::detail::real_memory>;

  descriptor(Server& of, mark at, std::size_t lines) : data{lines}, of_{of}, at_{at} {
    event_.ops = &ops;
    event_.site = std::source_location::current();
    ::new (static_cast<void*>(event_.storage)) tartan::detail::handler_hints;
    tartan::detail::put_self(event_, this);
  }
  descriptor(const descriptor&) = delete;
  descriptor& operator=(const descriptor&) = delete;

  /// By its color, or before anybody knows of it: what becomes ready posts its event there from now on.
  void open(tartan::color where, tartan::detail::handler_hints told) {
    where_ = where;
    tartan::detail::write_whole(tartan::detail::hints_in(event_), told);
    static_cast<void>(word_.arm(tartan::detail::flow::in));
  }
  /// From any worker. Gives whether the event was posted.
  bool ready() noexcept {
    if (!word_.set(word_.generation(), word::in)) return false;
    tartan::detail::submit_from_worker(of_.runtime(), where_, event_);
    return true;
  }
  void close() noexcept { static_cast<void>(word_.reopen()); }

  [[nodiscard]] tartan::color where() const noexcept { return where_; }

  data_lines data;
  std::optional<tartan::strand> own;  ///< where a connection has a color that no number gives

 private:
  static void run(tartan::detail::event& e) {
    auto& self = tartan::detail::self_in<descriptor>(e);
    static_cast<void>(self.word_.take());
    self.of_.news(self.at_);
  }
  static void drop(tartan::detail::event&) noexcept {}
  static constexpr tartan::detail::event_ops ops{
      .run = &run, .drop = &drop, .from = tartan::detail::origin::io, .pooled = false, .hinted = true, .counted = false};

  word word_;
  Server& of_;
  tartan::color where_{};
  mark at_;
  tartan::detail::event event_;
};

/// A server's runtime, descriptors and clients. `Server`: the coloring; has open_door(), and news(mark), by the event of a descriptor.
template <class Server>
class server_base {
 public:
  explicit server_base(const order& what)
      : sleeps_{what.on, [this](mark n) { return at(n).ready(); }}, clients_{what, sleeps_}, workers_{what.setup.workers}, tells_{what.setup.tells},
        rt_{options_for(what, sleeps_)} {
    if (tells_) tartan::detail::note_hints();
    const auto lines = static_cast<std::size_t>(what.on.at("web_lines"));
    for (mark n = 0; n < clients_.marks(); ++n) {
      descriptors_.push_back(std::make_unique<descriptor<Server>>(static_cast<Server&>(*this), n, n == clients::door ? 0 : lines));
    }
  }

  [[nodiscard]] tartan::detail::runtime_state& runtime() noexcept { return *state_; }

  figures run() {
    rt_.post([this] {
      state_ = tartan::detail::current_runtime();
      static_cast<Server&>(*this).open_door();
      clients_.begin();
    });
    rt_.run();
    figures found = clients_.measured(workers_);
    add_counters(found, rt_.counters());
    return found;
  }

 protected:
  /// Connections that one event accepts (io/listening.h).
  static constexpr unsigned accepted_at_once = 16;

  [[nodiscard]] descriptor<Server>& at(mark n) noexcept { return *descriptors_[n]; }
  [[nodiscard]] clients& callers() noexcept { return clients_; }
  [[nodiscard]] static picoseconds cost(const char* name) noexcept { return handler_constants().ps(name); }

  /// What a scheduler is told that a handler takes, if it is told anything.
  [[nodiscard]] tartan::detail::handler_hints told(picoseconds takes) const noexcept {
    return {.cost_ns = tells_ ? static_cast<std::uint32_t>(takes / 1000) : 0};
  }
  /// By a handler: another one.
  template <class F>
  void post(tartan::color where, picoseconds takes, F f) {
    if (tells_) {
      tartan::post(where, tartan::with_hints({.cost = std::chrono::nanoseconds{takes / 1000}}, std::move(f)));
    } else {
      tartan::post(where, std::move(f));
    }
  }
  /// The event of the door: `takes` is what one connection takes, `accepted` what becomes of it.
  template <class F>
  void accept_some(picoseconds takes, F accepted) {
    mark next = 0;
    for (unsigned n = 0; n < accepted_at_once; ++n) {
      if (!clients_.accept(next)) return;
      static_cast<void>(handler_scope{takes});
      accepted(next);
    }
    static_cast<void>(at(clients::door).ready());
  }
  /// There is something to read already where a descriptor is registered: an edge at once.
  void is_readable(mark n) noexcept { sleeps_.edge(n, running->current().clock); }
  /// The answer of this connection's request has left.
  void answered(mark n) {
    if (clients_.answered(n)) rt_.stop();
  }

 private:
  static tartan::options options_for(const order& what, socket_poller& sleeps) {
    tartan::options with;
    with.workers = what.setup.workers;
    with.stealing = what.setup.stealing;
    with.bind_workers = true;
    with.stall_after = std::chrono::nanoseconds{0};
    with.poller = &sleeps;
    return with;
  }

  socket_poller sleeps_;
  clients clients_;
  const unsigned workers_;
  const bool tells_;
  tartan::runtime rt_;
  tartan::detail::runtime_state* state_ = nullptr;
  std::vector<std::unique_ptr<descriptor<Server>>> descriptors_;
};

/// What a program of one coloring does.
template <class Server>
int serve(const char* question, int argc, char** argv) {
  const order what{argc, argv};
  return simulate(question, what, [&what] { return std::make_unique<Server>(what)->run(); });
}

}  // namespace simulation
