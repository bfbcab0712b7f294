#pragma once
// Parser and writer for the part of RESP (the protocol of Redis) that redis-benchmark uses. A command is an array of
// bulk strings or a line of words.

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <string>
#include <string_view>
#include <system_error>

namespace bench::resp {

inline constexpr std::size_t most_words = 16;
inline constexpr std::size_t most_word_bytes = 512 * 1024;
inline constexpr std::size_t most_line_bytes = 4096;  ///< of a line of words
inline constexpr std::size_t most_digits = 7;         ///< of a length

/// A command. Its words point into the parsed text.
struct command {
  std::array<std::string_view, most_words> words;
  std::size_t count = 0;
};

enum class state { whole, partial, bad };

/// The result of parse().
struct parsed {
  state is = state::partial;
  std::size_t used = 0;         ///< length of a whole command
  const char* error = nullptr;  ///< for the client, if the command is bad
};

namespace detail {

inline constexpr parsed partial{};
constexpr parsed bad(const char* error) {
  return {state::bad, 0, error};
}

/// Reads the number from `at`, behind the type's letter, to the end of the line, and moves `at` behind that line.
inline parsed length_at(std::string_view text, std::size_t& at, std::size_t most, std::size_t& length,
                        const char* error) {
  const std::string_view line = text.substr(at, most_digits + 2);
  const std::size_t end = line.find('\r');
  if (end == std::string_view::npos) return line.size() > most_digits ? bad(error) : partial;
  if (end + 1 == line.size() && end < most_digits + 1) return partial;
  const char* const last = line.data() + end;
  const auto [stop, failed] = std::from_chars(line.data(), last, length);
  if (end == 0 || end > most_digits || failed != std::errc{} || stop != last || line[end + 1] != '\n' || length > most)
    return bad(error);
  at += end + 2;
  return {state::whole, at, nullptr};
}

inline parsed bulk_string_at(std::string_view text, std::size_t& at, std::string_view& word) {
  if (at == text.size()) return partial;
  if (text[at] != '$') return bad("ERR Protocol error: expected '$'");
  std::size_t begin = at + 1;
  std::size_t length = 0;
  const parsed head = length_at(text, begin, most_word_bytes, length, "ERR Protocol error: invalid bulk length");
  if (head.is != state::whole) return head;
  if (text.size() < begin + length + 2) return partial;
  if (text.substr(begin + length, 2) != "\r\n")
    return bad("ERR Protocol error: a bulk string does not end with its line");
  word = text.substr(begin, length);
  at = begin + length + 2;
  return {state::whole, at, nullptr};
}

inline parsed array(std::string_view text, command& into) {
  std::size_t at = 1;
  std::size_t count = 0;
  const parsed head = length_at(text, at, most_words, count, "ERR Protocol error: invalid multibulk length");
  if (head.is != state::whole) return head;
  for (std::size_t n = 0; n < count; ++n) {
    const parsed word = bulk_string_at(text, at, into.words[n]);
    if (word.is != state::whole) return word;
  }
  into.count = count;
  return {state::whole, at, nullptr};
}

inline parsed line(std::string_view text, command& into) {
  const std::size_t end = text.substr(0, most_line_bytes).find('\n');
  if (end == std::string_view::npos)
    return text.size() < most_line_bytes ? partial : bad("ERR Protocol error: too big inline request");
  std::string_view rest = text.substr(0, end != 0 && text[end - 1] == '\r' ? end - 1 : end);
  into.count = 0;
  for (;;) {
    rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
    if (rest.empty()) return {state::whole, end + 1, nullptr};
    if (into.count == most_words) return bad("ERR Protocol error: too many words");
    const std::size_t length = std::min(rest.find(' '), rest.size());
    into.words[into.count++] = rest.substr(0, length);
    rest.remove_prefix(length);
  }
}

}  // namespace detail

/// Parses the command at the beginning of the text. A command without words is whole; the caller ignores it.
[[nodiscard]] inline parsed parse(std::string_view text, command& into) {
  if (text.empty()) return detail::partial;
  return text.front() == '*' ? detail::array(text, into) : detail::line(text, into);
}

inline void append_error(std::string& to, std::string_view error) {
  to.append("-").append(error).append("\r\n");
}
inline void append_simple(std::string& to, std::string_view word) {
  to.append("+").append(word).append("\r\n");
}
inline void append_bulk(std::string& to, std::string_view word) {
  to.append("$").append(std::to_string(word.size())).append("\r\n").append(word).append("\r\n");
}
inline void append_nothing(std::string& to) {
  to.append("$-1\r\n");
}
inline void append_integer(std::string& to, long long value) {
  to.append(":").append(std::to_string(value)).append("\r\n");
}

}  // namespace bench::resp
