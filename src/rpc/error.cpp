#include <tartan/rpc/error.h>

#include <string>

namespace tartan::rpc {

namespace {

class rpc_category final : public std::error_category {
 public:
  [[nodiscard]] const char* name() const noexcept override { return "rpc"; }

  [[nodiscard]] std::string message(int value) const override {
    switch (static_cast<errc>(value)) {
      case errc::malformed:
        return "the message is no RPC message";
      case errc::too_large:
        return "the RPC record exceeds the size limit";
      case errc::version_mismatch:
        return "the server does not speak RPC version 2";
      case errc::authentication:
        return "the server refuses the credentials";
      case errc::program_unavailable:
        return "the server does not have the program";
      case errc::program_mismatch:
        return "the server does not have this version of the program";
      case errc::procedure_unavailable:
        return "the program does not have the procedure";
      case errc::bad_arguments:
        return "the server cannot decode the arguments";
      case errc::system_error:
        return "the server failed to run the procedure";
      case errc::bad_result:
        return "the result of the call cannot be decoded";
      case errc::disconnected:
        return "the connection ended before the reply arrived";
      case errc::already_answered:
        return "the call was already answered";
    }
    return "unknown error " + std::to_string(value);
  }

  [[nodiscard]] std::error_condition default_error_condition(int value) const noexcept override {
    switch (static_cast<errc>(value)) {
      case errc::malformed:
      case errc::bad_result:
        return std::errc::bad_message;
      case errc::too_large:
        return std::errc::message_size;
      case errc::authentication:
        return std::errc::permission_denied;
      case errc::disconnected:
        return std::errc::connection_reset;
      default:
        return {value, *this};
    }
  }
};

}  // namespace

const std::error_category& error_category() noexcept {
  static const rpc_category only;
  return only;
}

}  // namespace tartan::rpc
