#include <tartan/http_io/error.h>

#include <string>

namespace tartan::http {

namespace {

class http_category final : public std::error_category {
 public:
  const char* name() const noexcept override { return "http"; }
  std::string message(int value) const override {
    switch (static_cast<errc>(value)) {
      case errc::malformed:
        return "the peer sends no valid HTTP";
      case errc::too_large:
        return "the HTTP message exceeds a limit";
      case errc::truncated:
        return "the connection ended within an HTTP message";
      case errc::no_answer:
        return "the server closed the connection without an answer";
      case errc::already_answered:
        return "this request was answered before";
      case errc::too_many_redirects:
        return "too many redirects";
      case errc::insecure_redirect:
        return "a redirect from https to http";
      case errc::bad_redirect:
        return "a redirect that leads nowhere";
    }
    return "unknown error " + std::to_string(value);
  }
};

}  // namespace

const std::error_category& error_category() noexcept {
  static const http_category only;
  return only;
}

}  // namespace tartan::http
