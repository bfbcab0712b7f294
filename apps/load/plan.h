#pragma once
/// What may be asked for.

#include <tartan/io/address.h>
#include <tartan/tls/client.h>

#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "load/expectation.h"
#include "load/file_set.h"
#include "load/random.h"
#include "load/settings.h"

namespace load {

/// One request, and what answers it.
struct page {
  std::string request;  ///< all of its bytes
  expectation* body;
};

/// A server's pages. Constant while the load runs; who learns what a body has to be apart.
struct site {
  tartan::address at;
  std::shared_ptr<tartan::tls::client> secure;  ///< null: the server speaks plain HTTP
  std::string host;                             ///< that its certificate has to name
  std::vector<page> pages;
};

class plan {
 public:
  /// Errors: std::invalid_argument; std::runtime_error for authorities that cannot be read.
  explicit plan(const load_settings& of);

  [[nodiscard]] const site& site_of(std::uint64_t client) const noexcept { return sites_[client % sites_.size()]; }

  /// One of the site's pages.
  [[nodiscard]] const page& draw(const site& from, random_source& by) const noexcept {
    return from.pages.size() == 1 ? from.pages.front() : from.pages[choice_.draw(by)];
  }

 private:
  std::deque<expectation> bodies_;
  std::vector<site> sites_;
  weighted_choice choice_;
};

}  // namespace load
