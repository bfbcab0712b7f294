#pragma once
// Tartan by strand: a handle per lane.

#include <cstddef>
#include <tartan/core/strand.h>
#include <vector>

#include "bench/lanes/strand_placement.h"
#include "bench/lanes/tartan_runtime.h"

namespace bench {

template <class Event>
class tartan_strand : public tartan_runtime {
 public:
  static constexpr bool by_value = false;

  explicit tartan_strand(const lanes_setup& setup) : tartan_runtime{setup} { add(setup.lanes); }

  void add(std::size_t lanes) {
    strands_.reserve(strands_.size() + lanes);
    for (std::size_t i = 0; i < lanes; ++i) strands_.emplace_back(rt_);
  }

  void post(std::size_t lane, const Event& e) {
    told(e, [&](auto&& f) { strands_[lane].post(f); });
  }
  void add_to_batch(std::size_t lane, const Event& e) {
    told(e, [&](auto&& f) { batch_.add(strands_[lane], f); });
  }

  void post_fresh(const Event& e) {
    tartan::strand made{rt_};
    for (int i = 0; i < 3; ++i) told(e, [&](auto&& f) { made.post(f); });
  }

  /// Another one in place of an idle lane.
  void renew(std::size_t lane) { strands_[lane] = tartan::strand{rt_}; }

  /// Where an idle lane's next event shall run.
  void place(std::size_t lane, unsigned worker) { place_strand(rt_, strands_[lane], worker); }

 private:
  std::vector<tartan::strand> strands_;
};

}  // namespace bench
