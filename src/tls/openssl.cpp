#include "tls/openssl.h"

#include <openssl/err.h>

#include <cstring>
#include <stdexcept>

namespace tartan::tls::detail {

void fail(const std::string& what) {
  const unsigned long error = ERR_get_error();
  const char* const reason = ERR_SYSTEM_ERROR(error) ? std::strerror(ERR_GET_REASON(error)) : ERR_reason_error_string(error);
  ERR_clear_error();
  throw std::runtime_error{what + " (" + (reason != nullptr ? reason : "no reason given") + ")"};
}

}  // namespace tartan::tls::detail
