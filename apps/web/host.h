#pragma once
/// One of the sites that a server has.

#include <tartan/core/runtime.h>

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "web/document_root.h"
#include "web/library.h"
#include "web/response.h"
#include "web/settings.h"

namespace web {

/// A folder and its pages.
struct host {
  /// `number`: counted from 0, the one that answers whoever names no other. `sweeps`: the library's. `told`: the
  /// root's.
  ///
  /// Errors: as document_root's.
  host(tartan::runtime& rt, const host_settings& with, const library_settings& kept, std::size_t number,
       std::shared_ptr<tartan::semaphore> sweeps, std::shared_ptr<shortage> told)
      : root{with.root, with.with, std::move(told)}, error_pages{with.error_pages}, fallback{with.fallback},
        name{with.names.empty() ? "" : with.names.front()}, https_only{with.https_only},
        headers{headers_of_any_answer(with.with.pages.headers, false)}, headers_before_tls{headers_of_any_answer(with.with.pages.headers, true)},
        pages{rt, root, kept, std::move(sweeps)}, index{number} {}

  const document_root root;
  const std::map<http::status, std::string> error_pages;  ///< paths, by what they stand for
  const std::string fallback;  ///< a path; empty: what is not there is a 404
  const std::string name;  ///< the first of its names; empty: it has none
  const bool https_only;   ///< who comes without TLS is sent there
  const std::string headers;             ///< of each answer that is no page, in lines with a CRLF before each
  const std::string headers_before_tls;  ///< the same for who has come without TLS, where it is https_only
  library pages;
  const std::size_t index;
};

}  // namespace web
