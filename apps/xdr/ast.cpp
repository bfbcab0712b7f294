#include "xdr/ast.h"

#include <algorithm>

namespace xdr_compiler {

std::string to_string(wide number) {
  const bool is_negative = number < 0;
  auto rest = static_cast<unsigned __int128>(is_negative ? -number : number);
  std::string text;
  do {
    text += static_cast<char>('0' + static_cast<int>(rest % 10));
    rest /= 10;
  } while (rest != 0);
  if (is_negative) text += '-';
  std::reverse(text.begin(), text.end());
  return text;
}

const declaration& without_aliases(const declaration& what) noexcept {
  const declaration* now = &what;
  while (now->form == shape::single && now->type != nullptr && now->type->as<alias_body>() != nullptr)
    now = &now->type->as<alias_body>()->is;
  return *now;
}

}  // namespace xdr_compiler
