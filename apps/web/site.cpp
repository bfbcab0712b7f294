#include "site.h"

#include <random>
#include <string_view>

namespace web {

std::string site::new_boundary() {
  constexpr std::string_view digits = "0123456789abcdef";
  std::random_device random;
  std::string made = "tartan-";
  for (int n = 0; n < 32; ++n) made.push_back(digits[random() % digits.size()]);
  return made;
}

}  // namespace web
