// c-ares expands names, which may be compressed. Its parsers drop the time to live of most types, so this file walks
// the records itself.
#include "dns/message.h"

#include <ares.h>
#include <tartan/dns/error.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <optional>

#include "dns/host_name.h"

namespace tartan::detail {

namespace {

constexpr std::uint16_t class_internet = 1;
constexpr int most_aliases = 16;
constexpr std::size_t longest_name = 4 * 255;  // as text, in which a byte may become "\\255"

/// Reads a message from front to back; past an error it gives zeros.
class reader {
 public:
  explicit reader(std::span<const unsigned char> message) noexcept : all_{message}, end_{message.size()} {}

  [[nodiscard]] bool failed() const noexcept { return failed_; }
  [[nodiscard]] std::size_t at() const noexcept { return at_; }
  [[nodiscard]] std::size_t left() const noexcept { return end_ - at_; }

  /// No further than this; gives the end before, for the next call.
  std::size_t ends_at(std::size_t end) noexcept { return std::exchange(end_, end); }

  std::uint16_t number16() noexcept {
    if (!has(2)) return 0;
    at_ += 2;
    return static_cast<std::uint16_t>((all_[at_ - 2] << 8) | all_[at_ - 1]);
  }
  std::uint32_t number32() noexcept {
    const std::uint32_t high = number16();
    return (high << 16) | number16();
  }

  std::string bytes(std::size_t count) {
    if (!has(count)) return {};
    at_ += count;
    return {reinterpret_cast<const char*>(all_.data()) + at_ - count, count};
  }

  /// A name, which may lead to bytes before it.
  std::string name() {
    if (!has(1)) return {};
    char* text = nullptr;
    long length = 0;
    const int got = ::ares_expand_name(all_.data() + at_, all_.data(), static_cast<int>(all_.size()), &text, &length);
    const std::unique_ptr<char, decltype(&::ares_free_string)> owned{text, &::ares_free_string};
    if (got == ARES_ENOMEM) throw std::bad_alloc{};
    if (got != ARES_SUCCESS || !has(static_cast<std::size_t>(length))) {
      failed_ = true;
      return {};
    }
    // c-ares limits the jumps of a compressed name, and not its length: a message of 64 KB could become 400 MB of names.
    std::string expanded{text, ::strnlen(text, longest_name + 1)};
    if (expanded.size() > longest_name) {
      failed_ = true;
      return {};
    }
    at_ += static_cast<std::size_t>(length);
    return expanded;
  }

 private:
  bool has(std::size_t count) noexcept {
    if (failed_ || end_ - at_ < count) failed_ = true;
    return !failed_;
  }

  std::span<const unsigned char> all_;
  std::size_t at_ = 0;
  std::size_t end_;
  bool failed_ = false;
};

/// A name that a user gets, or none (empty, for "."). A hostile server could put any bytes into a name.
std::optional<std::string> believable(std::string&& name) {
  if (!name.empty() && !is_host_name(name)) return std::nullopt;
  return std::move(name);
}

bool read_name(reader& from, std::string& into) {
  std::optional<std::string> name = believable(from.name());
  if (!name) return false;
  into = std::move(*name);
  return true;
}

void read_texts(reader& from, std::string& into) {
  do {
    const std::string length = from.bytes(1);
    if (length.empty()) return;
    into += from.bytes(static_cast<unsigned char>(length.front()));
  } while (!from.failed() && from.left() != 0);
}

/// The data, of a known type. False: it is not of its type's form.
bool read_data(reader& from, record& into) {
  switch (into.type) {
    case record_type::a:
      into.data = from.bytes(4);
      break;
    case record_type::aaaa:
      into.data = from.bytes(16);
      break;
    case record_type::cname:
      into.data = from.name();  // only compared
      break;
    case record_type::ptr:
      if (!read_name(from, into.data)) return false;
      break;
    case record_type::mx:
      into.numbers[0] = from.number16();
      if (!read_name(from, into.data)) return false;
      break;
    case record_type::srv:
      for (std::uint16_t& number : into.numbers) number = from.number16();
      if (!read_name(from, into.data)) return false;
      break;
    case record_type::txt:
      read_texts(from, into.data);
      break;
  }
  return !from.failed() && from.left() == 0;
}

bool is_known(std::uint16_t type) noexcept {
  switch (static_cast<record_type>(type)) {
    case record_type::a:
    case record_type::cname:
    case record_type::ptr:
    case record_type::mx:
    case record_type::txt:
    case record_type::aaaa:
    case record_type::srv:
      return true;
  }
  return false;
}

/// One record, added if it is of a known type. False: malformed.
bool read_record(reader& from, std::vector<record>& into) {
  record r;
  r.owner = from.name();
  const std::uint16_t type = from.number16();
  const std::uint16_t of_class = from.number16();
  r.time_to_live = from.number32();
  if ((r.time_to_live & 0x80000000U) != 0) r.time_to_live = 0;  // RFC 2181, 8
  const std::size_t bytes = from.number16();
  if (from.failed() || bytes > from.left()) return false;
  if (of_class != class_internet || !is_known(type)) {
    static_cast<void>(from.bytes(bytes));
    return true;
  }
  r.type = static_cast<record_type>(type);
  const std::size_t end = from.ends_at(from.at() + bytes);
  const bool is_well_formed = read_data(from, r);
  from.ends_at(end);
  if (is_well_formed) into.push_back(std::move(r));
  return is_well_formed;
}

}  // namespace

result<message_bytes> write_question(const question& q, std::uint16_t id) {
  unsigned char* made = nullptr;
  int length = 0;
  const int got =
      ::ares_create_query(q.name.c_str(), class_internet, static_cast<int>(q.type), id, 1, &made, &length, 0);
  const std::unique_ptr<void, decltype(&::ares_free_string)> owned{made, &::ares_free_string};
  if (got == ARES_ENOMEM) throw std::bad_alloc{};
  if (got != ARES_SUCCESS) return make_error_code(dns::errc::invalid_name);
  return message_bytes(made, made + length);
}

result<answer> read_answer(std::span<const unsigned char> message, std::size_t most_records) {
  const std::error_code malformed = dns::errc::malformed;
  reader from{message};
  from.number16();  // the id
  const std::uint16_t flags = from.number16();
  const std::size_t questions = from.number16();
  const std::size_t answers = from.number16();
  from.number32();  // the counts of other sections
  if (from.failed() || (flags & 0x8000U) == 0) return malformed;
  for (std::size_t n = 0; n < questions; ++n) {
    static_cast<void>(from.name());
    from.number32();
    if (from.failed()) return malformed;
  }
  if (answers > most_records) return make_error_code(dns::errc::too_many_records);
  answer got{flags & 15U, {}, false};
  for (std::size_t n = 0; n < answers; ++n) {
    if (!read_record(from, got.records)) return malformed;
  }
  constexpr unsigned authoritative = 0x0400;
  constexpr unsigned offers_recursion = 0x0080;
  got.is_referral = got.code == answer_ok && answers == 0 && (flags & (authoritative | offers_recursion)) == 0;
  return got;
}

result<std::vector<record>> records_for(const question& q, const answer& from) {
  std::string name = q.name;
  std::uint32_t time_to_live = ~0U;
  const auto next_alias = [&] {
    return std::ranges::find_if(
        from.records, [&](const record& r) { return r.type == record_type::cname && same_name(r.owner, name); });
  };
  int aliases = 0;
  for (auto alias = next_alias(); alias != from.records.end(); alias = next_alias()) {
    if (++aliases > most_aliases) return make_error_code(dns::errc::malformed);
    name = alias->data;
    time_to_live = std::min(time_to_live, alias->time_to_live);
  }
  std::vector<record> found;
  for (const record& r : from.records) {
    if (r.type != q.type || !same_name(r.owner, name)) continue;
    found.push_back(r);
    found.back().time_to_live = std::min(r.time_to_live, time_to_live);
  }
  if (!found.empty()) return found;
  return make_error_code(from.code == answer_no_such_name ? dns::errc::no_such_host : dns::errc::no_data);
}

}  // namespace tartan::detail
