#pragma once
/// Misuse of generated unions.

#include <cstdint>

namespace tartan::xdr::detail {

/// Ends the program: `setter`, as "answer::set_wait", was given a discriminant that selects another arm.
[[noreturn]] void wrong_case(const char* setter, std::int64_t which) noexcept;

}  // namespace tartan::xdr::detail
