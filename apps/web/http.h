#pragma once
/// The library's HTTP, by the short name that this program's files use.

namespace tartan::http {}

namespace web {

namespace http = tartan::http;

}  // namespace web
