#include "http_date.h"

#include <array>
#include <cstdio>

namespace web {

std::string http_date(std::time_t at) {
  // strftime would write the names in the language of the program's locale.
  constexpr std::array days{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  constexpr std::array months{"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  std::tm t{};
  ::gmtime_r(&at, &t);
  std::array<char, 64> text;
  const int size = std::snprintf(text.data(), text.size(), "%s, %02d %s %04d %02d:%02d:%02d GMT", days[static_cast<std::size_t>(t.tm_wday)],
                                 t.tm_mday, months[static_cast<std::size_t>(t.tm_mon)], t.tm_year + 1900, t.tm_hour, t.tm_min, t.tm_sec);
  return {text.data(), static_cast<std::size_t>(size)};
}

std::string_view date_clock::text() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME_COARSE, &now);
  if (now.tv_sec != at_) {
    text_ = http_date(now.tv_sec);  // first: it may find no memory
    at_ = now.tv_sec;
  }
  return text_;
}

}  // namespace web
