#include <tartan/http/content_coding.h>

#include <algorithm>
#include <optional>

#include <tartan/http/text.h>

namespace tartan::http {

namespace {

/// In thousandths; the least that is wanted is 1.
constexpr int whole_weight = 1000;

/// "q=0.5", behind the semicolon. Nothing if it is no weight.
std::optional<int> weight_of(std::string_view parameter) noexcept {
  if (parameter.size() < 3 || (parameter[0] | 0x20) != 'q' || parameter[1] != '=') return std::nullopt;
  const std::string_view number = parameter.substr(2);
  if (number.size() > 5 || (number[0] != '0' && number[0] != '1') || (number.size() > 1 && number[1] != '.'))
    return std::nullopt;
  int weight = number[0] == '1' ? whole_weight : 0;
  int digit = 100;
  for (std::size_t n = 2; n < number.size(); ++n, digit /= 10) {
    if (number[n] < '0' || number[n] > '9') return std::nullopt;
    weight += (number[n] - '0') * digit;
  }
  return weight > whole_weight ? std::nullopt : std::optional{weight};
}

/// What a client has said of each coding; nothing: not a word.
struct wishes {
  std::array<std::optional<int>, 3> named;
  std::optional<int> others;

  [[nodiscard]] std::optional<int> of(coding c) const noexcept {
    const std::optional<int> own = named[static_cast<std::size_t>(c)];
    return own ? own : others;
  }

  void take(std::string_view member) {
    const std::size_t semicolon = std::min(member.find(';'), member.size());
    const std::string_view name = trimmed(member.substr(0, semicolon));
    std::optional<int> weight = whole_weight;
    if (semicolon != member.size()) weight = weight_of(trimmed(member.substr(semicolon + 1)));
    if (!weight) return;
    if (name == "*") others = weight;
    for (const coding each : compressions) {
      if (same_letters(name, name_of(each))) named[static_cast<std::size_t>(each)] = weight;
    }
    if (same_letters(name, "x-gzip")) named[static_cast<std::size_t>(coding::gzip)] = weight;
    if (same_letters(name, "identity")) named[static_cast<std::size_t>(coding::identity)] = weight;
  }
};

}  // namespace

std::string_view name_of(coding c) noexcept {
  switch (c) {
    case coding::brotli:
      return "br";
    case coding::gzip:
      return "gzip";
    case coding::identity:
      break;
  }
  return {};
}

coding best_coding(const header_lines& fields, coding_set there) {
  wishes of_client;
  fields.each("Accept-Encoding", [&](std::string_view list) {
    for (std::string_view rest = list; !rest.empty();) {
      const std::size_t comma = std::min(rest.find(','), rest.size());
      of_client.take(trimmed(rest.substr(0, comma)));
      rest.remove_prefix(std::min(comma + 1, rest.size()));
    }
    return true;
  });
  coding best = coding::identity;
  int most = of_client.named[static_cast<std::size_t>(coding::identity)].value_or(0);
  for (const coding each : compressions) {
    const int weight = there.has(each) ? of_client.of(each).value_or(0) : 0;
    // As much as identity is enough: it is less to send.
    if (weight > most || (weight == most && weight != 0 && best == coding::identity)) {
      best = each;
      most = weight;
    }
  }
  return best;
}

}  // namespace tartan::http
