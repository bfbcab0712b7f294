#pragma once
// A Tartan runtime that serves sockets, a strand for each, as accept() gives each connection a color of its own.

#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <tartan/core/runtime.h>
#include <tartan/core/strand.h>
#include <tartan/io/local.h>
#include <tartan/io/tcp.h>
#include <utility>
#include <vector>

#include "bench/harness/report.h"
#include "bench/lanes/tartan_options.h"

namespace bench {

class tartan_sockets {
 public:
  /// A connection holds one; when the last is gone, the runtime stops.
  class presence {
   public:
    explicit presence(tartan_sockets& in) noexcept : in_{&in} {}
    presence(presence&& other) noexcept : in_{std::exchange(other.in_, nullptr)} {}
    presence& operator=(presence&&) = delete;
    ~presence() {
      if (in_ != nullptr && in_->left_.fetch_sub(1, std::memory_order_acq_rel) == 1) in_->rt_.stop();  // pairs with itself
    }

   private:
    tartan_sockets* in_;
  };

  explicit tartan_sockets(unsigned workers) : rt_{tartan_options(workers)} {}

  /// Calls `start(stream, presence)`, with the stream's kind, in the color of each connection; runs as a server does, until all are gone.
  template <class F>
  void run(bool tcp, const std::vector<int>& descriptors, F start) {
    std::deque<tartan::strand> strands;
    left_.store(descriptors.size(), std::memory_order_relaxed);
    for (const int descriptor : descriptors) {
      tartan::strand& own = strands.emplace_back(rt_);
      if (tcp) {
        begin<tartan::tcp::stream>(own, descriptor, start);
      } else {
        begin<tartan::local::stream>(own, descriptor, start);
      }
    }
    rt_.run();
  }

  void tell(report& to) const {
    const tartan::runtime_counters seen = rt_.counters();
    to.add("steals", static_cast<double>(seen.steals));
    to.add("wakes", static_cast<double>(seen.wakes));
    to.add("sleeps", static_cast<double>(seen.sleeps));
  }

 private:
  template <class Stream, class F>
  void begin(tartan::strand& in, int descriptor, F start) {
    tartan::result<Stream> made = Stream::from_fd(rt_, descriptor, in);
    if (!made) std::exit((std::fprintf(stderr, "from_fd: %s\n", made.error().message().c_str()), 1));
    in.post([stream = std::move(*made), here = presence{*this}, start]() mutable { start(std::move(stream), std::move(here)); });
  }

  tartan::runtime rt_;
  std::atomic<std::size_t> left_{0};
};

}  // namespace bench
