#pragma once
/// From a method and a path to a route.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tartan/core/color.h>
#include <tartan/http_server/handler.h>
#include <vector>

namespace tartan::http::detail {

/// What a pattern leads to, for one method.
struct route_entry {
  std::vector<std::string> names;  ///< of its parameters, in their order
  std::unique_ptr<detail::handler> handler;
  std::optional<color> in;
  std::optional<std::uint64_t> most_body;
};

/// A tree with a node for each segment.
///
/// Threads: any, while nobody adds.
/// Cost: a look-up in a map for each segment; more where a text and a name both fit.
class router {
 public:
  router();
  ~router();

  /// Errors: std::invalid_argument.
  route_entry& add(std::string_view method, std::string_view pattern, std::unique_ptr<handler> h);

  struct found {
    const route_entry* entry = nullptr;    ///< null: none for this method
    std::vector<std::string_view> values;  ///< of its parameters, in the path
    std::string allowed;                   ///< methods that the path has if there is no entry; empty: the path has none
  };
  /// `path`: decoded, as path_of gives it.
  [[nodiscard]] found find(std::string_view method, std::string_view path) const;

  /// All methods of all routes, as Allow has them.
  [[nodiscard]] std::string all_methods() const;

 private:
  struct node;
  using methods = std::map<std::string, route_entry, std::less<>>;
  class search;

  std::unique_ptr<node> root_;
};

}  // namespace tartan::http::detail
