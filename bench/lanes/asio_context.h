#pragma once
// Boost.Asio: an io_context that N threads run, and a strand per lane.

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <cstddef>
#include <thread>
#include <utility>
#include <vector>

#include "bench/harness/request.h"
#include "bench/harness/tally.h"

namespace bench {

/// The strand of the executors, with the context's own executor type; the context is told how many threads will run it.
template <class Event>
class asio_context_strand {
 public:
  static constexpr bool by_value = false;

  explicit asio_context_strand(const lanes_setup& setup)
      : threads_{setup.workers}, context_{static_cast<int>(setup.workers)} {
    add(setup.lanes);
  }

  void add(std::size_t lanes) {
    strands_.reserve(strands_.size() + lanes);
    for (std::size_t i = 0; i < lanes; ++i) strands_.push_back(boost::asio::make_strand(context_));
  }

  void post(std::size_t lane, const Event& e) { boost::asio::post(strands_[lane], counted{e}); }

  /// Three events in a strand of their own, which ends with them.
  void post_fresh(const Event& e) {
    const auto made = boost::asio::make_strand(context_);
    for (int i = 0; i < 3; ++i) boost::asio::post(made, counted{e});
  }

  template <class F>
  void run(F start) {
    boost::asio::post(context_, std::move(start));
    join(start_threads());
  }

  template <class F>
  void run_fed(F feed) {
    auto more_will_come = boost::asio::make_work_guard(context_);
    std::vector<std::thread> threads = start_threads();
    feed();
    more_will_come.reset();
    join(std::move(threads));
  }

  [[nodiscard]] std::size_t ran() const { return tally_.look().ran; }

 private:
  /// Of the event's own size.
  struct counted {
    Event e;
    void operator()() {
      tally::count_ran();
      e();
    }
  };

  std::vector<std::thread> start_threads() {
    std::vector<std::thread> threads;
    for (unsigned n = 0; n < threads_; ++n) threads.emplace_back([this] { context_.run(); });
    return threads;
  }
  static void join(std::vector<std::thread> threads) {
    for (std::thread& each : threads) each.join();
  }

  unsigned threads_;
  tally tally_;
  boost::asio::io_context context_;
  std::vector<boost::asio::strand<boost::asio::io_context::executor_type>> strands_;
};

}  // namespace bench
