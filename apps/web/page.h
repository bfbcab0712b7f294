#pragma once
/// A file as it is sent.

#include <tartan/http/content_coding.h>

#include <cstdint>
#include <ctime>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "web/file_version.h"
#include "web/http.h"
#include "web/page_body.h"
#include "web/shared_file.h"

namespace web {

/// What is the same in each response with this file.
struct page {
  std::string head;        ///< of a response with all of it: status line and headers, up to the date, which is still to come
  std::string_view type;   ///< as content_type gives it
  std::string tag;         ///< entity_tag's
  std::optional<std::time_t> modified;  ///< date_of's
  std::string known_by;    ///< lines, each with a CRLF before it: tag, modified, how long it may be kept, what the host adds, whether there are siblings
  page_body body;    ///< empty for a file that is sent from the disk
  std::uint64_t size = 0;  ///< bytes of the file
  file_version version;
  http::coding_set siblings;     ///< that may be sent instead; a sibling itself has none
  bool has_young_sibling = false;  ///< one more is there that may still be being written: look again soon
  http::coding as = http::coding::identity;  ///< which sibling it is
  std::weak_ptr<const shared_file> large;  ///< the file, while somebody sends it, or its shelf keeps it open

  [[nodiscard]] bool is_large() const noexcept { return body.size() != size; }

  [[nodiscard]] std::size_t bytes() const noexcept { return sizeof *this + head.capacity() + tag.capacity() + known_by.capacity() + body.bytes(); }
};

/// Never changes once it is shared.
using shared_page = std::shared_ptr<const page>;

/// Types by extension, which has small letters and no dot: they go before those that are known anyway.
using type_map = std::map<std::string, std::string, std::less<>>;

/// What some pages of a host say of themselves, by the path of the file.
struct page_rule {
  std::string path = {};                     ///< the beginning of it, as "/assets/"; empty: any
  std::vector<std::string> extensions = {};  ///< in small letters, without a dot; empty: any
  std::string cache_control = {};            ///< goes before that of the host, and of rules before this one; empty: those count
  std::string headers = {};                  ///< lines, each with a CRLF before it, which go before those of the same name

  [[nodiscard]] bool operator==(const page_rule&) const = default;
};

/// What all pages of a host say of themselves.
struct page_options {
  type_map types = {};             ///< that go before those that are known anyway
  std::string cache_control = {};  ///< the value of a Cache-Control; empty: none is sent
  std::string headers = {};        ///< more lines, each with a CRLF before it
  std::vector<page_rule> rules = {};  ///< in this order; each page has those that fit it

  [[nodiscard]] bool operator==(const page_options&) const = default;
};

/// What describe has to know of a file.
struct file_state {
  file_version version;
  bool certain = true;              ///< false: written to a moment ago. It gets no tag and no date, for the next state could have the same
  http::coding as = http::coding::identity;
  file_time opened = {};            ///< when its folder was opened, see entity_tag
};

/// When the file was modified, for Last-Modified. Nothing if the next state could have the same date (RFC 9110,
/// 8.8.2.1): the state is not certain, at most a second old, or dated in the future. Nothing for a date before 1980
/// either, see file_time::is_credible.
[[nodiscard]] std::optional<std::time_t> date_of(const file_state& state, std::time_t now) noexcept;

/// Fills in what is sent before the body. `path`: for a sibling, that of the file that it stands for. What has siblings, or is one, says that it depends
/// on Accept-Encoding.
///
/// `more` must outlive the page.
void describe(page& what, std::string_view path, const file_state& state, std::time_t now, const page_options& more = {});

/// As a Content-Type has it; application/octet-stream for an extension that is not known.
///
/// Lifetime: `more`'s.
[[nodiscard]] std::string_view content_type(std::string_view path, const type_map& more = {}) noexcept;

}  // namespace web
