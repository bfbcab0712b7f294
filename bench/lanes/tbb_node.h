#pragma once
// oneTBB: a serial function_node per lane; the events are its messages.

#include <cstddef>
#include <deque>
#include <oneapi/tbb/flow_graph.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>
#include <optional>

#include "bench/harness/request.h"

namespace bench {

/// The thread that waits for the graph is one of the workers, as oneTBB means it; except with a foreign feeder, which must not be one.
template <class Event>
class tbb_node {
 public:
  static constexpr bool by_value = false;

  explicit tbb_node(const lanes_setup& setup)
      : limit_{oneapi::tbb::global_control::max_allowed_parallelism,
               setup.workers + (setup.fed_from_outside ? 1u : 0u)},
        arena_{static_cast<int>(setup.workers), setup.fed_from_outside ? 0u : 1u} {
    arena_.execute([this] { graph_.emplace(); });
    add(setup.lanes);
  }

  void add(std::size_t lanes) {
    for (std::size_t i = 0; i < lanes; ++i) add_to(nodes_);
  }

  void post(std::size_t lane, const Event& e) { nodes_[lane].try_put(e); }

  /// Three events in a node of their own. A node must not end in its own body, so it stays until `drop_fresh`.
  void post_fresh(const Event& e) {
    node& made = add_to(fresh_);
    for (int i = 0; i < 3; ++i) made.try_put(e);
  }
  void drop_fresh() { fresh_.clear(); }

  template <class F>
  void run(F start) {
    arena_.execute(start);
    graph_->wait_for_all();
  }
  template <class F>
  void run_fed(F feed) {
    feed();
    graph_->wait_for_all();
  }

 private:
  using node = oneapi::tbb::flow::function_node<Event>;

  node& add_to(std::deque<node>& where) {
    return where.emplace_back(*graph_, oneapi::tbb::flow::serial, [](Event e) { e(); });
  }

  oneapi::tbb::global_control limit_;
  oneapi::tbb::task_arena arena_;
  std::optional<oneapi::tbb::flow::graph> graph_;
  std::deque<node> nodes_;
  std::deque<node> fresh_;
};

}  // namespace bench
