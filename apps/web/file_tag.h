#pragma once
/// The entity tag of a file's state.

#include <string>
#include <string_view>

#include "web/file_version.h"

namespace web {

/// The tag, with its quotes: inode, size and time of change. Programs cannot set the time of change, unlike the time of
/// modification, so a file that replaces another of the same size and date gets another tag. Hence servers with copies
/// of a file give different tags, and chmod, ln or mv, which leave the content as it was, make a new one.
///
/// `suffix`: a sibling's, as ".gz". `opened`: when the folder was opened. It becomes part of the tag if the time of
/// change is not credible either, as on an image file system that keeps none: the next image may reuse inode and size,
/// but this process opens it later.
[[nodiscard]] std::string file_tag(const file_version& of, std::string_view suffix = {}, const file_time& opened = {});

}  // namespace web
