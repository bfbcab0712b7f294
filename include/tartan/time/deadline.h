#pragma once
/// From any std::chrono duration to nanoseconds that fit. Library code.

#include <chrono>
#include <cstdint>
#include <ratio>
#include <type_traits>

namespace tartan::detail {

/// The latest deadline and the longest duration, about 292 years; what is longer saturates and never fires.
inline constexpr std::uint64_t latest_deadline_ns = (std::uint64_t{1} << 63) - 1;

/// A duration in nanoseconds: a part of one counts as a whole one, so that no timer fires early.
///
/// Limits: 0 for what is negative or not a number, latest_deadline_ns for what is longer.
template <class Rep, class Period>
[[nodiscard]] constexpr std::uint64_t saturated_ns(std::chrono::duration<Rep, Period> duration) noexcept {
  using scale = std::ratio_divide<Period, std::nano>;
  if (!(duration > duration.zero())) return 0;
  if constexpr (std::chrono::treat_as_floating_point_v<Rep>) {
    const long double ns = static_cast<long double>(duration.count()) * scale::num / scale::den;
    if (ns >= static_cast<long double>(latest_deadline_ns)) return latest_deadline_ns;
    const auto whole = static_cast<std::uint64_t>(ns);
    return static_cast<long double>(whole) < ns ? whole + 1 : whole;
  } else {
    static_assert(std::is_integral_v<Rep>, "a duration counts in integers or floating point numbers");
    // 64 bits times a numerator of at most 63 fit
    using wide = unsigned __int128;
    const wide product = static_cast<wide>(duration.count()) * static_cast<wide>(scale::num);
    const wide ns = product / static_cast<wide>(scale::den) + (product % static_cast<wide>(scale::den) != 0 ? 1 : 0);
    return ns < latest_deadline_ns ? static_cast<std::uint64_t>(ns) : latest_deadline_ns;
  }
}

/// A point of the monotonic clock in nanoseconds; the runtime's clock counts from the same origin.
template <class Duration>
[[nodiscard]] constexpr std::uint64_t saturated_ns(
    std::chrono::time_point<std::chrono::steady_clock, Duration> at) noexcept {
  return saturated_ns(at.time_since_epoch());
}

/// `after_ns` later than `now_ns`.
[[nodiscard]] constexpr std::uint64_t saturated_deadline_ns(std::uint64_t now_ns, std::uint64_t after_ns) noexcept {
  return now_ns < latest_deadline_ns && after_ns < latest_deadline_ns - now_ns ? now_ns + after_ns : latest_deadline_ns;
}

}  // namespace tartan::detail
