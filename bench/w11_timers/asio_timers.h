#pragma once
// Timers of Boost.Asio, a steady_timer object per timer, for W11.

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "bench/w11_timers/workload.h"

namespace bench {

/// Threads offers: a constructor from their number; executor_type, executor(); run_all(), which returns when nothing is left.
template <class Threads>
class asio_timers {
 public:
  asio_timers(unsigned workers, std::size_t lanes, std::size_t slots) : threads_{workers}, timers_(lanes) {
    for (auto& of_lane : timers_) {
      strands_.push_back(boost::asio::make_strand(threads_.executor()));
      of_lane.reserve(slots);
    }
  }

  template <class F>
  void in_lane(std::size_t lane, F f) {
    boost::asio::post(strands_[lane], std::move(f));
  }
  /// Slots of a lane are set in their order, each once.
  void set(std::size_t lane, std::size_t, std::uint64_t deadline_ns, near_timer<asio_timers> what) {
    timer& made = timers_[lane].emplace_back(strands_[lane], clock::time_point{std::chrono::nanoseconds{deadline_ns}});
    made.async_wait([what](const boost::system::error_code& canceled) {
      if (!canceled) what();
    });
  }
  void cancel(std::size_t lane, std::size_t slot) { timers_[lane][slot].cancel(); }

  template <class F>
  void run(F start) {
    boost::asio::post(threads_.executor(), std::move(start));
    threads_.run_all();
  }

 private:
  using clock = std::chrono::steady_clock;
  using strand = boost::asio::strand<typename Threads::executor_type>;
  using timer = boost::asio::basic_waitable_timer<clock, boost::asio::wait_traits<clock>, strand>;

  Threads threads_;
  std::vector<strand> strands_;
  std::vector<std::vector<timer>> timers_;
};

}  // namespace bench
