#pragma once
/// What every event carries: see docs/guide/colors.md.

#include <concepts>
#include <cstdint>
#include <string_view>
#include <source_location>
#include <type_traits>

namespace tartan {

class color;

namespace detail {

[[noreturn]] void color_out_of_range(std::source_location site) noexcept;
void assert_color(color expected, std::source_location site) noexcept;

/// Spreads the bits of a hash (the finalizer of splitmix64); std::hash of an integer is the integer itself.
constexpr std::uint64_t mix(std::uint64_t x) noexcept {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/// A mixed hash: of text by its characters, however it is held, else by std::hash.
template <class Key>
[[nodiscard]] std::uint64_t hash_of(const Key& key) {
  if constexpr (std::is_convertible_v<const Key&, std::string_view>) {
    return mix(std::hash<std::string_view>{}(key));
  } else {
    return mix(std::hash<Key>{}(key));
  }
}

struct raw_color;

}  // namespace detail

/// A value that says which events must not run together: same color in order, different colors in parallel.
///
/// Limits: numbers from 0 to 2^63 - 1; the upper half belongs to the runtime. Costs nothing to make, copy or drop.
/// Source: libasync-smp (USENIX 2003), section 3, where it has 32 bits.
class color {
 public:
  /// The default color, 0: what an event has when nobody chose one.
  constexpr color() noexcept = default;

  /// The color with this number.
  ///
  /// Errors: a negative number, or one of 2^63 and more, ends the program.
  template <class Number>
    requires((std::integral<Number> || std::is_enum_v<Number>) && sizeof(Number) <= sizeof(std::uint64_t))
  constexpr explicit color(Number number, std::source_location site = std::source_location::current()) noexcept
      : value_{static_cast<std::uint64_t>(number)} {
    if (value_ > largest) detail::color_out_of_range(site);
  }

  /// Hashes a key into a color; never the default color.
  ///
  /// Two keys may meet in one color with the probability of a 63-bit hash; then they only run one after the other. Text is hashed
  /// by its characters, however it is held.
  template <class Key>
  [[nodiscard]] static color of(const Key& key) {
    const std::uint64_t hashed = detail::hash_of(key) & largest;
    return color{hashed == 0 ? 1 : hashed};
  }

  /// Ordered with nothing: events of it run in any order, on all workers at once. No object and no timer may have it.
  static const color unordered;

  [[nodiscard]] constexpr std::uint64_t value() const noexcept { return value_; }
  [[nodiscard]] friend constexpr bool operator==(color, color) noexcept = default;

  /// Ends the program, with both colors and the place, unless the running event has this color.
  ///
  /// Cost: two loads and a comparison; leave it in.
  void assert_here(std::source_location site = std::source_location::current()) const noexcept {
    detail::assert_color(*this, site);
  }

 private:
  friend struct detail::raw_color;
  static constexpr std::uint64_t largest = (std::uint64_t{1} << 63) - 1;

  std::uint64_t value_ = 0;
};

namespace detail {

/// The runtime's own way to make a color of the upper half.
struct raw_color {
  static constexpr color make(std::uint64_t value) noexcept {
    color made;
    made.value_ = value;
    return made;
  }
};

}  // namespace detail

inline constexpr color color::unordered = detail::raw_color::make(~std::uint64_t{0});

}  // namespace tartan

/// Colors are keys of hashed containers.
template <>
struct std::hash<tartan::color> {
  std::size_t operator()(tartan::color c) const noexcept { return tartan::detail::mix(c.value()); }
};
