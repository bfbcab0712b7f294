#pragma once
// The server's side of one connection, without sockets: reads commands from bytes and gathers the answers. Both C++
// servers use it; they differ in how a command gets to its shard.

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <strings.h>
#include <system_error>

#include "bench/w14_key_value/resp.h"
#include "bench/w14_key_value/shard.h"

namespace bench {

/// Usage: read into room() and call add(); call next() until it returns `more`; write output() and call clear_output().
class conversation {
 public:
  enum class step {
    shard,  ///< call run() with the shard of key()
    more,   ///< every complete command was handled: write, then read more
    full,   ///< enough output: write, then call next() again
    over,   ///< protocol error: write, then close
  };
  static constexpr std::size_t read_at_once = 16 * 1024;
  static constexpr std::size_t write_at_once = 64 * 1024;

  conversation() : input_(read_at_once, '\0') {}

  /// The buffer to read into; never empty.
  [[nodiscard]] std::span<char> room() {
    input_.erase(0, begin_);
    end_ -= begin_;
    begin_ = 0;
    input_.resize(end_ + read_at_once);
    return {input_.data() + end_, read_at_once};
  }
  void add(std::size_t bytes) { end_ += bytes; }

  [[nodiscard]] step next() {
    for (;;) {
      if (key_at_ != 0) return step::shard;
      if (output_.size() >= write_at_once) return step::full;
      const resp::parsed found = resp::parse({input_.data() + begin_, end_ - begin_}, asked_);
      if (found.is == resp::state::partial) return step::more;
      if (found.is == resp::state::bad) return append_error(found.error), step::over;
      begin_ += found.used;
      begin();
    }
  }

  [[nodiscard]] std::string_view key() const { return asked_.words[key_at_]; }

  /// Executes the command. Keeps no reference into the shard.
  void run(shard& on) {
    switch (verb_) {
      case verb::get:
        return answer_with(on.get(key()));
      case verb::set:
        on.set(key(), asked_.words[2]);
        return answer("OK");
      case verb::increment:
        return answer_number(on.increment(key()));
      case verb::expire:
        return answer_integer(on.expire(key(), seconds_) ? 1 : 0);
      case verb::remove:
        removed_ += on.remove(key()) ? 1 : 0;
        if (++key_at_ == asked_.count) answer_integer(removed_);
        return;
    }
  }

  [[nodiscard]] const std::string& output() const { return output_; }
  void clear_output() { output_.clear(); }

 private:
  enum class verb { get, set, increment, expire, remove };
  struct known {
    std::string_view name;
    verb is;
    std::size_t least, most;  ///< words
  };
  static constexpr std::array<known, 5> with_a_key{{{"GET", verb::get, 2, 2},
                                                    {"SET", verb::set, 3, 3},
                                                    {"INCR", verb::increment, 2, 2},
                                                    {"EXPIRE", verb::expire, 3, 3},
                                                    {"DEL", verb::remove, 2, resp::most_words}}};

  static bool is(std::string_view word, std::string_view name) {
    return word.size() == name.size() && strncasecmp(word.data(), name.data(), name.size()) == 0;
  }

  /// Answers a command that needs no key; otherwise makes its first key the current one.
  void begin() {
    if (asked_.count == 0) return;
    const std::string_view name = asked_.words[0];
    for (const known& each : with_a_key) {
      if (is(name, each.name)) return begin(each);
    }
    if (is(name, "PING") && asked_.count == 1) return resp::append_simple(output_, "PONG");
    if (is(name, "CONFIG") && asked_.count == 3 && is(asked_.words[1], "GET")) return tell_setting(asked_.words[2]);
    append_error("ERR unknown command");
  }
  void begin(const known& command) {
    if (asked_.count < command.least || asked_.count > command.most)
      return append_error("ERR wrong number of arguments");
    if (command.is == verb::expire && !read_seconds())
      return append_error("ERR value is not an integer or out of range");
    verb_ = command.is;
    removed_ = 0;
    key_at_ = 1;
  }
  bool read_seconds() {
    const std::string_view text = asked_.words[2];
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), seconds_);
    return !text.empty() && failed == std::errc{} && end == text.data() + text.size();
  }
  /// redis-benchmark asks for `save` and `appendonly` and prints them.
  void tell_setting(std::string_view name) {
    output_.append("*2\r\n");
    resp::append_bulk(output_, name);
    resp::append_bulk(output_, is(name, "appendonly") ? "no" : "");
  }

  void append_error(std::string_view error) { resp::append_error(output_, error); }
  void answer(std::string_view word) { resp::append_simple(output_, word), key_at_ = 0; }
  void answer_integer(long long value) { resp::append_integer(output_, value), key_at_ = 0; }
  void answer_with(const std::optional<std::string_view>& value) {
    if (value) {
      resp::append_bulk(output_, *value);
    } else {
      resp::append_nothing(output_);
    }
    key_at_ = 0;
  }
  void answer_number(const std::optional<std::int64_t>& value) {
    if (value) return answer_integer(*value);
    append_error("ERR value is not an integer or out of range");
    key_at_ = 0;
  }

  std::string input_;
  std::size_t begin_ = 0;  ///< of the bytes that are not parsed yet
  std::size_t end_ = 0;
  std::string output_;
  resp::command asked_;
  verb verb_ = verb::get;
  std::size_t key_at_ = 0;  ///< index of the current key among the words; 0: no command waits for a shard
  std::int64_t seconds_ = 0;
  long long removed_ = 0;
};

}  // namespace bench
