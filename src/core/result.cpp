#include <string>
#include <tartan/core/result.h>

#include "core/fatal.h"

namespace tartan {

namespace {

class own_category final : public std::error_category {
 public:
  [[nodiscard]] const char* name() const noexcept override { return "tartan"; }

  [[nodiscard]] std::string message(int code) const override {
    switch (static_cast<errc>(code)) {
      case errc::end_of_stream:
        return "end of stream";
      case errc::canceled:
        return "canceled";
      case errc::timed_out:
        return "timed out";
      case errc::busy:
        return "busy: a bounded queue is full";
      case errc::closed:
        return "closed";
      case errc::lagged:
        return "lagged: values were lost";
    }
    return "unknown error " + std::to_string(code);
  }

  // So that portable code may compare with std::errc.
  [[nodiscard]] std::error_condition default_error_condition(int code) const noexcept override {
    switch (static_cast<errc>(code)) {
      case errc::canceled:
        return std::errc::operation_canceled;
      case errc::timed_out:
        return std::errc::timed_out;
      case errc::busy:
        return std::errc::resource_unavailable_try_again;
      case errc::end_of_stream:
      case errc::closed:
      case errc::lagged:
        break;
    }
    return {code, *this};
  }
};

}  // namespace

const std::error_category& error_category() noexcept {
  static const own_category category;
  return category;
}

namespace detail {

void result_misuse(const std::error_code& error) noexcept {
  fatal({"the value of a failed result was read; its error is: ", error.message(), " (", error.category().name(), " ",
         std::to_string(error.value()), ")"});
}

void error_without_error() noexcept {
  fatal({"a result was given an empty error code as its error: it says that there is none"});
}

}  // namespace detail

}  // namespace tartan
