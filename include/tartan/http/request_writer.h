#pragma once
/// Writing the head of a request.

#include <string>
#include <string_view>
#include <tartan/http/head_writer.h>
#include <tartan/http/method.h>

namespace tartan::http {

/// Appends a request's head to a string.
///
///     std::string out;
///     request_writer{out, method::post, "/messages", "example.org"}.field("Content-Type", "text/plain").length(5);
///     out += "hello";
///
/// Threads, Lifetime, Errors and Cost: head_writer's.
/// Source: RFC 9112, 3.
class request_writer : public head_writer {
 public:
  /// Begins with "METHOD target HTTP/1.1" and Host.
  ///
  /// Errors: std::invalid_argument if the method is no token, the target is empty or not visible ASCII, or the host is
  /// no host (is_host).
  request_writer(std::string& out, std::string_view method, std::string_view target, std::string_view host);
  request_writer(std::string& out, method m, std::string_view target, std::string_view host)
      : request_writer{out, text_of(m), target, host} {}
};

}  // namespace tartan::http
