#pragma once
/// What tells one state of a file from another, as HTTP writes it: a word in quotes (RFC 9110, 8.8.3).

#include <cstdint>
#include <string>
#include <string_view>

#include "web/page.h"

namespace web {

/// The tag of a file's state, with its quotes: inode, size and time of change. Programs cannot set the time of change,
/// unlike the time of modification, so a file that replaces another of the same size and date gets another tag. Hence
/// servers with copies of a file give different tags, and chmod, ln or mv, which leave the content as it was, make a
/// new one.
///
/// `suffix`: a sibling's, as ".gz". `opened`: when the folder was opened. It becomes part of the tag if the time of
/// change is not credible either, as on an image file system that keeps none: the next image may reuse inode and size,
/// but this process opens it later.
[[nodiscard]] std::string entity_tag(const file_version& of, std::string_view suffix = {},
                                     const file_time& opened = {});

/// Whether a list as If-Match and If-None-Match have it holds the tag, or is "*". `weakly`: "W/" makes no difference; else whoever has it matches
/// nothing. A list that is none matches nothing from where it is wrong.
[[nodiscard]] bool list_has_tag(std::string_view list, std::string_view tag, bool weakly) noexcept;

}  // namespace web
