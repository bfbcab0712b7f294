#pragma once
// CAF, the C++ Actor Framework: an event-based actor per lane; the events are its messages.

#include <caf/all.hpp>
#include <chrono>
#include <cstddef>
#include <thread>
#include <type_traits>
#include <vector>

#include "bench/harness/request.h"
#include "bench/harness/tally.h"

namespace bench {

/// Of the event's own size.
template <class Event>
struct caf_message {
  Event e;
};

}  // namespace bench

/// It stays in this process, so CAF need not know how to write it.
template <class Event>
struct caf::allowed_unsafe_message_type<bench::caf_message<Event>> : std::true_type {};

namespace bench {

/// CAF's work-stealing scheduler with its defaults. An actor lives as long as its handle or a message to it.
template <class Event>
class caf_actor {
 public:
  static constexpr bool by_value = false;

  explicit caf_actor(const lanes_setup& setup) : system_{config_.with(setup.workers)} { add(setup.lanes); }

  void add(std::size_t lanes) {
    actors_.reserve(actors_.size() + lanes);
    for (std::size_t i = 0; i < lanes; ++i) actors_.push_back(make());
  }

  void post(std::size_t lane, const Event& e) { send(actors_[lane], e); }

  /// Three events to an actor of their own, which is gone after the last of them.
  void post_fresh(const Event& e) {
    const caf::actor made = make();
    for (int i = 0; i < 3; ++i) send(made, e);
  }

  template <class F>
  void run(F start) {
    tally::count_posted();
    system_.spawn([start](caf::event_based_actor* self) mutable {
      current = self;
      start();
      current = nullptr;
      tally::count_ran();
    });
    wait_until_idle();
    ++starts_;
  }

  template <class F>
  void run_fed(F feed) {
    feed();
    wait_until_idle();
  }

  [[nodiscard]] std::size_t ran() const { return tally_.look().ran - starts_; }

 private:
  using message = caf_message<Event>;

  struct settings : caf::actor_system_config {
    settings& with(unsigned workers) {
      set("scheduler.max-threads", workers);
      return *this;
    }
  };

  /// It is made by its first message.
  caf::actor make() {
    return system_.template spawn<caf::lazy_init>([](caf::event_based_actor* self) -> caf::behavior {
      return {[self](const message& received) {
        Event e = received.e;
        current = self;
        e();
        current = nullptr;
        tally::count_ran();
      }};
    });
  }

  /// From inside by the actor that runs, so that the message goes into its worker's own queue.
  static void send(const caf::actor& to, const Event& e) {
    tally::count_posted();
    if (current != nullptr) {
      current->send(to, message{e});
    } else {
      caf::anon_send(to, message{e});
    }
  }

  /// A look every 0.2 ms. CAF can wait for the end of actors only (await_all_actors_done), and these do not end: the next event may go to any
  /// of them. Who ran the last event cannot tell that it was the last one without a word that all threads share, which the others would pay for
  /// at each event. Only W2 and W7 see when this returns; in the other questions the last event takes the time itself.
  void wait_until_idle() const {
    for (tally::sums seen = tally_.look(); seen.ran != seen.posted; seen = tally_.look()) {
      std::this_thread::sleep_for(std::chrono::microseconds{200});
    }
  }

  static inline thread_local caf::event_based_actor* current = nullptr;

  tally tally_;
  settings config_;
  caf::actor_system system_;
  std::vector<caf::actor> actors_;
  std::size_t starts_ = 0;
};

}  // namespace bench
