#include <tartan/xdr/error.h>

#include <string>

namespace tartan::xdr {

namespace {

class xdr_category final : public std::error_category {
 public:
  const char* name() const noexcept override { return "xdr"; }
  std::string message(int value) const override {
    switch (static_cast<errc>(value)) {
      case errc::truncated:
        return "the XDR data ends within a value";
      case errc::too_long:
        return "an XDR string, opaque or array exceeds the bound of its type";
      case errc::bad_padding:
        return "XDR padding that is not zero";
      case errc::bad_boolean:
        return "an XDR bool that is neither 0 nor 1";
      case errc::bad_enumerator:
        return "a number that is no value of the XDR enum";
      case errc::no_arm:
        return "an XDR union has no arm for its discriminant";
      case errc::too_deep:
        return "XDR values are nested too deeply";
      case errc::too_large:
        return "the decoded XDR value exceeds the memory limit";
      case errc::trailing_bytes:
        return "bytes are left behind the XDR value";
    }
    return "unknown error " + std::to_string(value);
  }
};

}  // namespace

const std::error_category& error_category() noexcept {
  static const xdr_category only;
  return only;
}

}  // namespace tartan::xdr
