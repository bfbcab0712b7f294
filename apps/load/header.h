#pragma once
/// Header lines, "Name: value".

#include <string>
#include <string_view>

namespace load {

/// Compares ASCII letters without their case; those of the second are small.
[[nodiscard]] bool equals(std::string_view a, std::string_view small_letters) noexcept;

/// Whether the line has this name, of small letters.
[[nodiscard]] bool is_named(std::string_view line, std::string_view name) noexcept;

/// Why a request cannot have the line besides its own ones; empty: it can. What says where a request ends, or what becomes of its connection, is the
/// injector's own.
[[nodiscard]] std::string wrong_with_header(const std::string& line);

}  // namespace load
