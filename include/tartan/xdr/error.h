#pragma once
/// What can be wrong with XDR data.

#include <system_error>

namespace tartan::xdr {

/// As std::error_code values of xdr::error_category().
enum class errc {
  truncated = 1,   ///< the data ends within a value, or a count promises more than there is
  too_long,        ///< a string, an opaque or an array is longer than its type allows
  bad_padding,     ///< the bytes that fill up a word are not zero
  bad_boolean,     ///< neither 0 nor 1
  bad_enumerator,  ///< a number that is no value of the enum
  no_arm,          ///< the union has no arm for the discriminant
  too_deep,        ///< values are nested deeper than limits::depth
  too_large,       ///< the decoded value would need more memory than limits::memory_bytes
  trailing_bytes,  ///< data is left behind the value
};

[[nodiscard]] const std::error_category& error_category() noexcept;
[[nodiscard]] inline std::error_code make_error_code(errc e) noexcept {
  return {static_cast<int>(e), error_category()};
}

}  // namespace tartan::xdr

template <>
struct std::is_error_code_enum<tartan::xdr::errc> : std::true_type {};
