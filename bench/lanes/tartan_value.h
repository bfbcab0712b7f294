#pragma once
// Tartan by value: a color is a number, looked up at each post.

#include <cstddef>
#include <cstdint>
#include <tartan/core/color.h>

#include "bench/lanes/tartan_runtime.h"

namespace bench {

template <class Event>
class tartan_value : public tartan_runtime {
 public:
  static constexpr bool by_value = true;

  explicit tartan_value(const lanes_setup& setup) : tartan_runtime{setup} {}

  void add(std::size_t) {}

  void post(std::size_t lane, const Event& e) {
    told(e, [&](auto&& f) { rt_.post(tartan::color{lane + 1}, f); });
  }
  void add_to_batch(std::size_t lane, const Event& e) {
    told(e, [&](auto&& f) { batch_.add(tartan::color{lane + 1}, f); });
  }

  void post_fresh(const Event& e) {
    const tartan::color made{fresh_++};
    for (int i = 0; i < 3; ++i) told(e, [&](auto&& f) { rt_.post(made, f); });
  }

 private:
  std::uint64_t fresh_ = std::uint64_t{1} << 32;
};

}  // namespace bench
