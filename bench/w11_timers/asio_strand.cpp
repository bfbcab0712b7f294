// W11 by Boost.Asio: a steady_timer object per timer, on a strand per lane, in a thread_pool.
// The number is not that of one timer object which is set again and again; and the cost of a cancel holds the call of the canceled
// handler, for Asio always calls it.

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "bench/w11_timers/workload.h"

namespace {

class asio_timers {
 public:
  asio_timers(unsigned workers, std::size_t lanes, std::size_t slots) : pool_{workers}, timers_(lanes) {
    for (auto& of_lane : timers_) {
      strands_.push_back(boost::asio::make_strand(pool_.get_executor()));
      of_lane.reserve(slots);
    }
  }

  template <class F>
  void in_lane(std::size_t lane, F f) {
    boost::asio::post(strands_[lane], std::move(f));
  }
  /// Slots of a lane are set in their order, each once.
  void set(std::size_t lane, std::size_t, std::uint64_t deadline_ns, bench::near_timer<asio_timers> what) {
    timer& made = timers_[lane].emplace_back(strands_[lane], clock::time_point{std::chrono::nanoseconds{deadline_ns}});
    made.async_wait([what](const boost::system::error_code& canceled) {
      if (!canceled) what();
    });
  }
  void cancel(std::size_t lane, std::size_t slot) { timers_[lane][slot].cancel(); }

  template <class F>
  void run(F start) {
    boost::asio::post(pool_, std::move(start));
    pool_.join();
  }

 private:
  using clock = std::chrono::steady_clock;
  using strand = boost::asio::strand<boost::asio::thread_pool::executor_type>;
  using timer = boost::asio::basic_waitable_timer<clock, boost::asio::wait_traits<clock>, strand>;

  boost::asio::thread_pool pool_;
  std::vector<strand> strands_;
  std::vector<std::vector<timer>> timers_;
};

}  // namespace

int main(int argc, char** argv) {
  return bench::many_timers<asio_timers>({argc, argv, "asio_strand"});
}
