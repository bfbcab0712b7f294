#pragma once
/// Reading until enough has come, for streams whose read_some is a coroutine. Library code; programs use the streams' members.

#include <algorithm>
#include <cstddef>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <tartan/buf/bytes.h>
#include <tartan/buf/chain.h>
#include <tartan/core/result.h>
#include <tartan/core/task.h>
#include <utility>

namespace tartan::detail {

/// From a Handle's `read_some(mutable_bytes)`; byte_stream documents them.
///
/// Lifetime: each coroutine has a handle of its own, so the stream may move or be destroyed meanwhile.
template <class Handle>
class stream_reads {
 public:
  [[nodiscard]] static task<result<std::size_t>> read_exactly(Handle from, mutable_bytes into) {
    for (std::size_t got = 0; got != into.size();) {
      const result<std::size_t> more = co_await from.read_some(into.subspan(got));
      if (!more) co_return more;
      got += *more;
    }
    co_return into.size();
  }

  [[nodiscard]] static task<result<std::size_t>> read_until(Handle from, std::string& into, std::string_view delimiter, std::size_t most) {
    for (std::size_t begin = 0;;) {
      const std::size_t at = into.find(delimiter, begin);
      if (at != std::string::npos && at + delimiter.size() <= most) co_return at + delimiter.size();
      const std::size_t size = into.size();
      if (size >= most) co_return std::make_error_code(std::errc::message_size);
      begin = size >= delimiter.size() ? size - delimiter.size() + 1 : 0;
      try {
        into.resize(size + std::min(most - size, piece_bytes));
      } catch (const std::bad_alloc&) {
        co_return std::make_error_code(std::errc::not_enough_memory);
      }
      const result<std::size_t> got = co_await from.read_some(std::span{into}.subspan(size));
      into.resize(size + (got ? *got : 0));
      if (!got) co_return got;
    }
  }

  [[nodiscard]] static task<result<std::size_t>> read_some(Handle from, buf::chain& into, std::size_t most) {
    if (most == 0) co_return std::size_t{0};
    co_return co_await fill(std::move(from), into, most);
  }

  [[nodiscard]] static task<result<buf::line>> read_line(Handle from, buf::chain& into, std::size_t most) {
    for (;;) {
      if (const std::optional<buf::line> found = into.find_line(most)) co_return *found;
      const result<std::size_t> got = co_await fill_up(from, into, most);
      if (!got) co_return unexpected{got.error()};
    }
  }

  [[nodiscard]] static task<result<std::size_t>> read_until(Handle from, buf::chain& into, std::string_view delimiter, std::size_t most) {
    for (std::size_t begin = 0;;) {
      const std::optional<std::size_t> at = into.find(delimiter, begin);
      if (at && *at + delimiter.size() <= most) co_return *at + delimiter.size();
      begin = into.size() >= delimiter.size() ? into.size() - delimiter.size() + 1 : 0;
      const result<std::size_t> got = co_await fill_up(from, into, most);
      if (!got) co_return got;
    }
  }

 private:
  static constexpr std::size_t piece_bytes = 4096;
  static constexpr std::size_t least_room_bytes = 512;

  /// Until the chain holds `most` bytes.
  [[nodiscard]] static task<result<std::size_t>> fill_up(Handle from, buf::chain& into, std::size_t most) {
    if (into.size() >= most) co_return std::make_error_code(std::errc::message_size);
    co_return co_await fill(std::move(from), into, most - into.size());
  }
  [[nodiscard]] static task<result<std::size_t>> fill(Handle from, buf::chain& into, std::size_t most) {
    std::span<std::byte> room;
    try {
      room = into.prepare(std::min(least_room_bytes, most));
    } catch (const std::bad_alloc&) {
      co_return std::make_error_code(std::errc::not_enough_memory);
    }
    const result<std::size_t> got = co_await from.read_some(room.first(std::min(room.size(), most)));
    if (got) into.commit(*got);
    co_return got;
  }
};

}  // namespace tartan::detail
