#include <tartan/http_io/body_stream.h>

#include <algorithm>
#include <tartan/core/on.h>
#include <utility>

#include "http_io/wire.h"

namespace tartan::http {

task<result<std::size_t>> body_stream::read_some(mutable_bytes into) {
  if (into.size() == 0) co_return std::size_t{0};
  co_await on(wire_->color());
  const result<> filled = co_await fill();
  if (!filled) co_return filled.error();
  const std::size_t size = content_.copy_to(into);
  content_.drop(size);
  co_return size;
}

task<result<std::size_t>> body_stream::read_some(buf::chain& into, std::size_t most) {
  if (most == 0) co_return std::size_t{0};
  co_await on(wire_->color());
  const result<> filled = co_await fill();
  if (!filled) co_return filled.error();
  const std::size_t size = std::min(most, content_.size());
  into.append(content_.take(size));
  co_return size;
}

task<result<std::string>> body_stream::read_all(std::size_t most) {
  co_await on(wire_->color());
  std::string all;
  for (;;) {
    const result<> filled = co_await fill();
    if (!filled && filled.error() == tartan::errc::end_of_stream) co_return all;
    if (!filled) co_return filled.error();
    if (content_.size() > most - all.size()) co_return fail(errc::too_large);
    for (const buf::slice& each : content_.slices()) all.append(each.text());
    content_.drop(content_.size());
  }
}

std::error_code body_stream::fail(std::error_code why) noexcept {
  if (why != tartan::errc::canceled) failed_ = why;
  return why;
}

/// Moves what has come to `content_`.
result<> body_stream::take() {
  const std::size_t before = content_.size();
  const body_reader::outcome what = reader_.take(wire_->received(), content_);
  const std::size_t more = content_.size() - before;
  if (what == body_reader::outcome::refused) {
    return fail(reader_.error() == status::content_too_large ? errc::too_large : errc::malformed);
  }
  if (more > left_) return fail(errc::too_large);
  left_ -= more;
  return {};
}

task<result<>> body_stream::send_continue() {
  is_continue_wanted_ = false;
  if (is_answered_ || !wire_->received().empty()) co_return result<>{};  // it does not wait any more
  buf::chain text;
  text.append(buf::slice::of_static("HTTP/1.1 100 Continue\r\n\r\n"));
  co_return co_await wire_->send(std::move(text), piece_limit_);
}

/// Until there is content; the end gives errc::end_of_stream.
task<result<>> body_stream::fill() {
  for (;;) {
    if (failed_) co_return failed_;
    if (!content_.empty()) co_return result<>{};
    if (!reader_.is_complete()) {
      const result<> taken = take();
      if (!taken) co_return taken;
      if (!content_.empty()) continue;
    }
    if (reader_.is_complete()) co_return tartan::errc::end_of_stream;
    if (is_continue_wanted_) {
      const result<> asked = co_await send_continue();
      if (!asked) co_return fail(asked.error());
    }
    const result<> more = co_await wire_->fill(piece_limit_);
    if (more) continue;
    if (more.error() != tartan::errc::end_of_stream) co_return fail(more.error());
    if (!reader_.may_end_here()) co_return fail(errc::truncated);
    reader_.begin(request{});  // the end of the connection is the end of the body
  }
}

}  // namespace tartan::http
