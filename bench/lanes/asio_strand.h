#pragma once
// Boost.Asio: a strand per lane on a thread_pool.

#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <cstddef>
#include <vector>

#include "bench/harness/request.h"

namespace bench {

/// The strand of the executors, with the pool's own executor type: the fastest of Asio's strands, nothing is type-erased twice.
template <class Event>
class asio_strand {
 public:
  static constexpr bool by_value = false;

  explicit asio_strand(const lanes_setup& setup) : pool_{setup.workers} { add(setup.lanes); }

  void add(std::size_t lanes) {
    strands_.reserve(strands_.size() + lanes);
    for (std::size_t i = 0; i < lanes; ++i) strands_.push_back(boost::asio::make_strand(pool_.get_executor()));
  }

  void post(std::size_t lane, const Event& e) { boost::asio::post(strands_[lane], Event{e}); }

  /// Three events in a strand of their own, which ends with them.
  void post_fresh(const Event& e) {
    const auto made = boost::asio::make_strand(pool_.get_executor());
    for (int i = 0; i < 3; ++i) boost::asio::post(made, Event{e});
  }

  template <class F>
  void run(F start) {
    boost::asio::post(pool_, std::move(start));
    pool_.join();
  }

  /// The pool's threads run since the pool was made.
  template <class F>
  void run_fed(F feed) {
    feed();
    pool_.join();
  }

 private:
  boost::asio::thread_pool pool_;
  std::vector<boost::asio::strand<boost::asio::thread_pool::executor_type>> strands_;
};

}  // namespace bench
