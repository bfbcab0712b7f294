#pragma once
/// Questions as bytes, and bytes as answers.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <system_error>
#include <tartan/core/result.h>
#include <vector>

namespace tartan::detail {

using message_bytes = std::vector<unsigned char>;

/// The types of records that are asked for, by their numbers in messages.
enum class record_type : std::uint16_t { a = 1, cname = 5, ptr = 12, mx = 15, txt = 16, aaaa = 28, srv = 33 };

struct question {
  std::string name;
  record_type type = record_type::a;
};

/// One record of an answer.
struct record {
  std::string owner;
  record_type type = record_type::a;
  std::uint32_t time_to_live = 0;
  std::array<std::uint16_t, 3> numbers{};  ///< MX: the preference; SRV: priority, weight and port
  std::string data;                        ///< an address's bytes, a name or a text
};

struct answer {
  unsigned code = 0;  ///< RCODE
  std::vector<record> records;
  bool is_referral = false;  ///< the server knows nothing, and asks no other one: that says nothing of the name
};

/// Codes of an answer.
inline constexpr unsigned answer_ok = 0;
inline constexpr unsigned answer_no_such_name = 3;
inline constexpr unsigned answer_refused = 5;

/// The question as a message, with recursion desired.
///
/// Errors: dns::errc::invalid_name. std::bad_alloc.
[[nodiscard]] result<message_bytes> write_question(const question& q, std::uint16_t id);

/// The answer section, as far as its types are known here.
///
/// Errors: dns::errc::malformed, dns::errc::too_many_records. std::bad_alloc.
[[nodiscard]] result<answer> read_answer(std::span<const unsigned char> message, std::size_t most_records);

/// The records that answer a question, behind all aliases: each with the least time to live on the way to it.
///
/// Errors: dns::errc::no_such_host, no_data; dns::errc::malformed if the aliases have no end.
[[nodiscard]] result<std::vector<record>> records_for(const question& q, const answer& from);

}  // namespace tartan::detail
