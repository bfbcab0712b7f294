#pragma once
/// XDR's arrays of variable length.

#include <cstddef>
#include <tartan/xdr/text.h>
#include <utility>
#include <vector>

namespace tartan::xdr {

/// `T a<Max>`: a std::vector. Longer than Max: it is not encoded (errc::too_long).
template <class T, std::size_t Max = unbounded>
struct list : std::vector<T> {
  static constexpr std::size_t max = Max;

  using std::vector<T>::vector;
  list() = default;
  list(std::vector<T> from) noexcept : std::vector<T>{std::move(from)} {}
};

}  // namespace tartan::xdr
