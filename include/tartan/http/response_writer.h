#pragma once
/// Writing the head of a response.

#include <string>
#include <tartan/http/head_writer.h>
#include <tartan/http/status.h>

namespace tartan::http {

/// Appends a response's head to a string.
///
///     std::string out;
///     response_writer{out, status::ok}.field("Content-Type", "text/plain").length(5);
///     out += "hello";
///
/// Threads, Lifetime, Errors and Cost: head_writer's.
/// Source: RFC 9112, 4.
class response_writer : public head_writer {
 public:
  /// Begins with "HTTP/1.1 200 OK". A status without a name has no words behind its number.
  ///
  /// Errors: std::invalid_argument if the status is not between 100 and 999.
  response_writer(std::string& out, status s);
};

}  // namespace tartan::http
