#pragma once
/// What is sent back.

#include <tartan/http/byte_range.h>
#include <tartan/http/status.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "web/http.h"
#include "web/page.h"

namespace web {

/// How one request wants to be answered.
struct response_form {
  std::string_view date;
  bool keep_alive = false;  ///< the connection goes on
  bool http_1_0 = false;    ///< the client has to be told that it does
  bool with_body = true;    ///< not for HEAD
  std::string_view headers = {};  ///< headers_of_any_answer's, for what is no page
};

/// Of the lines that a host adds to its pages, each with a CRLF before it, those for its other answers: not what describes a page or says how long it may
/// be kept. `before_tls`: for who is sent to TLS, where alone a promise to use it counts (RFC 6797, 7.2).
[[nodiscard]] std::string headers_of_any_answer(std::string_view lines, bool before_tls);

/// Appends a page: its head, the date, its body. `is_apart`: that is sent behind all this.
void append_page(std::string& out, const page& what, const response_form& form, bool is_apart = false);

/// Appends what a client waits for that would not send a body for nothing.
void append_continue(std::string& out);

/// Appends 304: by what the page is known, and no body.
void append_not_modified(std::string& out, const page& what, const response_form& form);

/// Appends 416, which says how large the page is.
void append_not_satisfiable(std::string& out, const page& what, const response_form& form);

/// What separates the parts of one response. Nobody knows it before: who writes a page cannot have it in there.
[[nodiscard]] std::string new_boundary();

/// Appends the head of a 206 for some parts of the page; `frame` is then what stands before each part, and behind the last one.
///
/// `boundary`: what separates parts; must not be in the page. Of a sibling only one part can be sent: that the answer is coded would be said of all of it,
/// with what separates parts.
void append_parts(std::string& out, const page& what, std::span<const http::byte_range> parts, std::string_view boundary, const response_form& form,
                  std::vector<std::string>& frame);

/// Appends a status and, as body, one line that says it. 405 says what is allowed.
void append_status(std::string& out, http::status s, const response_form& form);

/// Appends 400 for a request that came without TLS to where TLS is spoken; its body says so.
void append_plain_http(std::string& out, const response_form& form);

/// Appends a page that stands for a status: without what it is known by, so that nobody keeps it for what was asked. `is_apart`: as above.
void append_error_page(std::string& out, http::status s, const page& what, const response_form& form, bool is_apart = false);

/// Appends a redirection for good.
void append_redirect(std::string& out, std::string_view to, const response_form& form);

}  // namespace web
