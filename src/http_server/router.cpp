#include "http_server/router.h"

#include <algorithm>
#include <set>
#include <stdexcept>
#include <tartan/http/field.h>
#include <utility>

namespace tartan::http::detail {

struct router::node {
  std::map<std::string, std::unique_ptr<node>, std::less<>> texts;
  std::unique_ptr<node> name;  ///< any segment but an empty one
  methods here;
  methods rest;  ///< of what goes on here, whatever it is
};

namespace {

[[noreturn]] void refuse(std::string_view pattern, const char* why) {
  throw std::invalid_argument{"http::server: the pattern '" + std::string{pattern} + "' " + why};
}

/// The name in "{name}"; empty if the segment is a text.
std::string_view name_in(std::string_view segment, std::string_view pattern) {
  if (segment.find_first_of("{}") == std::string_view::npos) return {};
  const std::string_view name = segment.substr(1, segment.size() - std::min<std::size_t>(2, segment.size()));
  if (!segment.starts_with('{') || !segment.ends_with('}') || name.empty() || name == "..." ||
      name.find_first_of("{}") != std::string_view::npos) {
    refuse(pattern, "has a segment that is neither a text nor '{name}'");
  }
  return name;
}

std::string joined(const std::set<std::string>& names) {
  std::string all;
  for (const std::string& each : names) all += (all.empty() ? "" : ", ") + each;
  return all;
}

/// OPTIONS is always answered, and HEAD where GET is.
template <class Methods>
void add_names(const Methods& of, std::set<std::string>& names) {
  for (const auto& [method, entry] : of) names.insert(method);
  if (of.contains("GET")) names.insert("HEAD");
  if (!of.empty()) names.insert("OPTIONS");
}

}  // namespace

router::router() : root_{std::make_unique<node>()} {}
router::~router() = default;

route_entry& router::add(std::string_view method, std::string_view pattern, std::unique_ptr<handler> h) {
  if (!is_token(method)) throw std::invalid_argument{"http::server: '" + std::string{method} + "' is no method"};
  if (!pattern.starts_with('/')) refuse(pattern, "does not begin with '/'");
  route_entry entry;
  node* at = root_.get();
  methods* to = nullptr;
  for (std::string_view left = pattern.substr(1); to == nullptr;) {
    const std::size_t slash = left.find('/');
    const std::string_view segment = left.substr(0, slash);
    const bool is_last = slash == std::string_view::npos;
    std::string_view name = name_in(segment, pattern);
    const bool is_rest = name.ends_with("...");
    if (is_rest) name.remove_suffix(3);
    if (is_rest && !is_last) refuse(pattern, "goes on behind '...}'");
    if (!is_last && segment.empty()) refuse(pattern, "has an empty segment");
    if (!name.empty()) {
      if (std::ranges::find(entry.names, name) != entry.names.end()) refuse(pattern, "has a name twice");
      entry.names.emplace_back(name);
    }
    if (is_rest) {
      to = &at->rest;
      break;
    }
    auto& next = name.empty() ? at->texts.try_emplace(std::string{segment}).first->second : at->name;
    if (next == nullptr) next = std::make_unique<node>();
    at = next.get();
    if (is_last) to = &at->here;
    left.remove_prefix(is_last ? left.size() : slash + 1);
  }
  entry.handler = std::move(h);
  const auto [place, is_new] = to->try_emplace(std::string{method}, std::move(entry));
  if (!is_new) refuse(pattern, "is there already for this method");
  return place->second;
}

/// Goes through the nodes that fit, the most special one first.
class router::search {
 public:
  explicit search(std::string_view method) noexcept : method_{method} {}

  /// Whether an entry was found at or below this node.
  bool visit(const node& at, std::string_view left) {
    const std::size_t slash = left.find('/');
    const bool is_last = slash == std::string_view::npos;
    const std::string_view segment = left.substr(0, slash);
    const std::string_view behind = is_last ? std::string_view{} : left.substr(slash + 1);
    if (const auto text = at.texts.find(segment); text != at.texts.end() && go(*text->second, behind, is_last))
      return true;
    if (at.name != nullptr && !segment.empty()) {
      found_.values.push_back(segment);
      if (go(*at.name, behind, is_last)) return true;
      found_.values.pop_back();
    }
    if (at.rest.empty()) return false;
    found_.values.push_back(left);
    if (take(at.rest)) return true;
    found_.values.pop_back();
    return false;
  }

  [[nodiscard]] found result() {
    if (found_.entry == nullptr) found_.allowed = joined(allowed_);
    return std::move(found_);
  }

 private:
  bool go(const node& to, std::string_view behind, bool is_last) { return is_last ? take(to.here) : visit(to, behind); }

  bool take(const methods& of) {
    auto place = of.find(method_);
    if (place == of.end() && method_ == "HEAD") place = of.find("GET");
    if (place != of.end()) {
      found_.entry = &place->second;
      return true;
    }
    add_names(of, allowed_);
    return false;
  }

  std::string_view method_;
  found found_;
  std::set<std::string> allowed_;
};

router::found router::find(std::string_view method, std::string_view path) const {
  search through{method};
  through.visit(*root_, path.substr(1));
  return through.result();
}

std::string router::all_methods() const {
  std::set<std::string> names{"OPTIONS"};
  std::vector<const node*> ahead{root_.get()};
  while (!ahead.empty()) {
    const node* const at = ahead.back();
    ahead.pop_back();
    add_names(at->here, names);
    add_names(at->rest, names);
    for (const auto& [text, next] : at->texts) ahead.push_back(next.get());
    if (at->name != nullptr) ahead.push_back(at->name.get());
  }
  return joined(names);
}

}  // namespace tartan::http::detail
