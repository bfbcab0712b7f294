#pragma once
/// Entity tags in the lists of If-Match and If-None-Match.

#include <cstdint>
#include <string_view>

namespace tartan::http {

/// How tags are compared: weakly, "W/" makes no difference; strongly, a weak tag matches nothing.
enum class tag_comparison : std::uint8_t { strong, weak };

/// Whether a list holds the tag, or is "*". `tag`: with its quotes; empty: there is none, and only "*" matches.
///
/// Behind an element that is no tag, nothing matches.
/// Threads: any.
/// Source: RFC 9110, 8.8.3.
[[nodiscard]] bool list_has_tag(std::string_view list, std::string_view tag, tag_comparison how) noexcept;

}  // namespace tartan::http
