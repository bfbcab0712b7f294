#pragma once
/// The end of a program that broke a rule: one message on stderr, then abort.

#include <initializer_list>
#include <source_location>
#include <string>
#include <string_view>
#include <tartan/core/color.h>

namespace tartan::detail {

/// Writes "tartan: " and the parts, as one line, and aborts.
[[noreturn]] void fatal(std::initializer_list<std::string_view> parts) noexcept;

/// Writes "tartan: " and the parts to stderr, as one line. If stderr is closed or full there is nobody to tell.
void report(std::initializer_list<std::string_view> parts) noexcept;

/// `file:line in function`, as messages show a place.
[[nodiscard]] std::string place(std::source_location site);

/// `color 7`, `default color`, `unordered`, `strand`, with the name in quotes where there is one.
[[nodiscard]] std::string color_text(color c, std::string_view name = {});

}  // namespace tartan::detail
