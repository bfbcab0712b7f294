#pragma once
/// Files, as all apps have them.

#include "common/file.h"

namespace web {

using tartan::apps::file;
using tartan::apps::read_all;

}  // namespace web
