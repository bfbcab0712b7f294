#include <tartan/xdr/wrong_case.h>

#include <string>

#include "core/fatal.h"

namespace tartan::xdr::detail {

void wrong_case(const char* setter, std::int64_t which) noexcept {
  tartan::detail::fatal({setter, "(", std::to_string(which), "): another arm of the union has this case"});
}

}  // namespace tartan::xdr::detail
