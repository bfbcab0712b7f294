#include <tartan/http/date.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <cstdlib>

namespace tartan::http {

namespace {

// strftime and strptime would take the names from the language of the program's locale.
constexpr std::array days{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
constexpr std::array months{"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

/// Reads a date from the front to the end; `good` is false from the first thing on that is not as it should be.
struct date_reader {
  std::string_view rest;
  bool good = true;

  void skip(std::string_view expected) noexcept {
    good = good && rest.starts_with(expected);
    if (good) rest.remove_prefix(expected.size());
  }
  /// So many digits; the first may be a blank if that is allowed.
  int number(std::size_t digits, bool blank = false) noexcept {
    int value = 0;
    for (std::size_t n = 0; n < digits; ++n) {
      const bool is_blank = n == 0 && blank && rest.starts_with(' ');
      good = good && (is_blank || (!rest.empty() && rest.front() >= '0' && rest.front() <= '9'));
      if (!good) return 0;
      value = is_blank ? 0 : 10 * value + (rest.front() - '0');
      rest.remove_prefix(1);
    }
    return value;
  }
  int month() noexcept {
    for (std::size_t n = 0; n < months.size(); ++n) {
      if (!rest.starts_with(months[n])) continue;
      rest.remove_prefix(3);
      return static_cast<int>(n);
    }
    good = false;
    return 0;
  }
  void time(std::tm& into) noexcept {
    into.tm_hour = number(2);
    skip(":");
    into.tm_min = number(2);
    skip(":");
    into.tm_sec = number(2);
  }
};

/// "Nov  6 08:49:37 1994", behind the day of the week: as C's asctime has it.
void read_asctime(date_reader& from, std::tm& into) noexcept {
  into.tm_mon = from.month();
  from.skip(" ");
  into.tm_mday = from.number(2, true);
  from.skip(" ");
  from.time(into);
  from.skip(" ");
  into.tm_year = from.number(4) - 1900;
}

/// "06 Nov 1994 08:49:37 GMT", or with dashes and a year of two digits.
void read_date(date_reader& from, std::tm& into, bool is_old) noexcept {
  const std::string_view between = is_old ? "-" : " ";
  into.tm_mday = from.number(2);
  from.skip(between);
  into.tm_mon = from.month();
  from.skip(between);
  into.tm_year = is_old ? from.number(2) : from.number(4) - 1900;
  from.skip(" ");
  from.time(into);
  from.skip(" GMT");
}

/// 94 is 1994 until 2044.
int full_year(int two_digits) noexcept {
  const std::time_t now = std::time(nullptr);
  std::tm t{};
  ::gmtime_r(&now, &t);
  int year = t.tm_year - t.tm_year % 100 + two_digits;
  if (year > t.tm_year + 50) year -= 100;
  return year;
}

std::time_t coarse_now() noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME_COARSE, &now);
  return now.tv_sec;
}

bool is_possible(const std::tm& t) noexcept {
  return t.tm_mday >= 1 && t.tm_mday <= 31 && t.tm_hour <= 23 && t.tm_min <= 59 && t.tm_sec <= 60;
}

}  // namespace

std::optional<std::time_t> parse_date(std::string_view text) noexcept {
  const std::size_t day = std::min(text.find_first_of(", "), text.size());
  date_reader from{text.substr(day)};
  std::tm t{};
  if (from.rest.starts_with(',')) {
    const bool is_old = day > 3;  // "Sunday" for "Sun"
    from.skip(", ");
    read_date(from, t, is_old);
    if (is_old && from.good) t.tm_year = full_year(t.tm_year);
  } else {
    from.skip(" ");
    read_asctime(from, t);
  }
  if (day < 3 || !from.good || !from.rest.empty() || !is_possible(t)) return std::nullopt;
  const bool is_leap_second = t.tm_sec == 60;  // timegm would carry it over into the next day
  if (is_leap_second) t.tm_sec = 59;
  const std::tm asked = t;
  const std::time_t at = ::timegm(&t) + (is_leap_second ? 1 : 0);
  if (t.tm_mday != asked.tm_mday) return std::nullopt;  // the 31st of June
  return at;
}

std::string format_date(std::time_t at) {
  std::tm t{};
  ::gmtime_r(&at, &t);
  std::array<char, 64> text;
  const int size = std::snprintf(
      text.data(), text.size(), "%s, %02d %s %04d %02d:%02d:%02d GMT", days[static_cast<std::size_t>(t.tm_wday)],
      t.tm_mday, months[static_cast<std::size_t>(t.tm_mon)], t.tm_year + 1900, t.tm_hour, t.tm_min, t.tm_sec);
  return {text.data(), static_cast<std::size_t>(size)};
}

std::string_view date_clock::text() {
  const std::time_t now = coarse_now();
  if (now != at_) {
    text_ = format_date(now);  // first: it may find no memory
    at_ = now;
  }
  return text_;
}

}  // namespace tartan::http
