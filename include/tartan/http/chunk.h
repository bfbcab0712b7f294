#pragma once
/// Writing a body in chunks.

#include <string>
#include <string_view>

namespace tartan::buf {
class chain;
class slice;
}  // namespace tartan::buf

namespace tartan::http {

/// Appends one chunk; nothing if there is no content, as an empty chunk would end the body.
///
/// Errors: std::bad_alloc.
/// Cost: a copy of the content; without one for a chain.
/// Source: RFC 9112, 7.1.
void append_chunk(std::string& out, std::string_view content);
void append_chunk(buf::chain& out, const buf::slice& content);

/// Appends the end of the body, without a trailer.
///
/// Errors: std::bad_alloc.
void append_last_chunk(std::string& out);
void append_last_chunk(buf::chain& out);

}  // namespace tartan::http
