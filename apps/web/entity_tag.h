#pragma once
/// What tells one state of a file from another, as HTTP writes it: a word in quotes (RFC 9110, 8.8.3).

#include <cstdint>
#include <string>
#include <string_view>

#include "page.h"

namespace web {

/// The tag of a file's state, with its quotes: inode, size and time of change, which nobody can set, unlike the time of modification: a file that took the
/// place of one with the same size and date has another. So servers with copies of a file give different ones, and chmod, ln or mv, which leave the
/// content as it was, make a new one. `suffix`: a sibling's, as ".gz".
[[nodiscard]] std::string entity_tag(const file_version& of, std::string_view suffix = {});

/// Whether a list as If-Match and If-None-Match have it holds the tag, or is "*". `weakly`: "W/" makes no difference; else whoever has it matches
/// nothing. A list that is none matches nothing from where it is wrong.
[[nodiscard]] bool list_has_tag(std::string_view list, std::string_view tag, bool weakly) noexcept;

}  // namespace web
