#include "web/local_clock.h"

#include <array>
#include <cstddef>
#include <cstdio>
#include <cstdlib>

namespace web {

namespace {

// strftime would take the names from the language of the program's locale.
constexpr std::array months{"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

}  // namespace

std::string_view local_clock::text() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME_COARSE, &now);
  if (now.tv_sec == at_) return text_;
  std::tm t{};
  ::localtime_r(&now.tv_sec, &t);
  std::array<char, 64> text;
  const long offset = t.tm_gmtoff / 60;
  const int size = std::snprintf(text.data(), text.size(), "%02d/%s/%04d:%02d:%02d:%02d %c%02ld%02ld", t.tm_mday,
                                 months[static_cast<std::size_t>(t.tm_mon)], t.tm_year + 1900, t.tm_hour, t.tm_min,
                                 t.tm_sec, offset < 0 ? '-' : '+', std::labs(offset) / 60, std::labs(offset) % 60);
  text_.assign(text.data(), static_cast<std::size_t>(size));
  at_ = now.tv_sec;
  return text_;
}

}  // namespace web
