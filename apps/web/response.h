#pragma once
/// What is sent back.

#include <string>
#include <string_view>

#include "page.h"
#include "status.h"
#include "target.h"

namespace web {

/// How one request wants to be answered.
struct response_form {
  std::string_view date;
  bool keep_alive = false;  ///< the connection goes on
  bool http_1_0 = false;    ///< the client has to be told that it does
  bool with_body = true;    ///< not for HEAD
};

/// Appends a page: its head, the date, its body.
void append_page(std::string& out, const page& what, const response_form& form);

/// Appends a status and, as body, one line that says it. 405 says what is allowed.
void append_status(std::string& out, status s, const response_form& form);

/// Appends a redirection to the same path with a slash, and to the same query.
void append_redirect(std::string& out, const target_path& from, const response_form& form);

}  // namespace web
