#include <tartan/dns/error.h>

#include <string>

namespace tartan::dns {

namespace {

class dns_category final : public std::error_category {
 public:
  [[nodiscard]] const char* name() const noexcept override { return "dns"; }

  [[nodiscard]] std::string message(int value) const override {
    switch (static_cast<errc>(value)) {
      case errc::no_such_host:
        return "no such host";
      case errc::no_data:
        return "the name has no record of this type";
      case errc::timed_out:
        return "no name server answered in time";
      case errc::refused:
        return "the name server refused to answer";
      case errc::server_failure:
        return "the name server failed";
      case errc::malformed:
        return "the name server's answer is malformed";
      case errc::invalid_name:
        return "not a valid name of a host";
      case errc::too_many_records:
        return "the answer has too many records";
    }
    return "unknown error " + std::to_string(value);
  }

  [[nodiscard]] std::error_condition default_error_condition(int value) const noexcept override {
    switch (static_cast<errc>(value)) {
      case errc::timed_out:
        return std::errc::timed_out;
      case errc::malformed:
        return std::errc::bad_message;
      case errc::invalid_name:
        return std::errc::invalid_argument;
      default:
        return {value, *this};
    }
  }
};

}  // namespace

const std::error_category& error_category() noexcept {
  static const dns_category category;
  return category;
}

}  // namespace tartan::dns
