#include <tartan/buf/gate.h>

#include <stdexcept>
#include <string>

#include "core/fatal.h"

namespace tartan::buf {

gate::gate(watermarks at) : marks_{at} {
  if (at.low_bytes > at.high_bytes) throw std::invalid_argument{"tartan::buf::gate: the low mark is above the high one"};
}

void gate::enter(std::size_t bytes) noexcept {
  if (error_) return;
  entered_ += bytes;
  if (level() > marks_.high_bytes) above_ = true;
}

void gate::leave(std::size_t bytes) noexcept {
  if (error_) return;
  if (bytes > level()) {
    tartan::detail::fatal({"from a gate with ", std::to_string(level()), " bytes were to leave ", std::to_string(bytes)});
  }
  left_ += bytes;
  if (level() <= marks_.low_bytes) above_ = false;
  while (!above_ && ready_.first != nullptr) end(*ready_.first, {});
  while (flushed_.first != nullptr && flushed_.first->until_ <= left_) end(*flushed_.first, {});
}

void gate::fail(std::error_code error) noexcept {
  error_ = error;
  left_ = entered_;
  above_ = false;
  end_all(error);
}

bool gate::is_over(wait& one, bool canceled) noexcept {
  one.until_ = entered_;
  if (error_) {
    one.error_ = error_;
    return true;
  }
  if (one.for_ready_ ? !above_ : left_ == entered_) return true;
  if (canceled) {
    one.error_ = errc::canceled;
    return true;
  }
  line& waiting = line_of(one);
  one.previous_ = waiting.last;
  (waiting.last != nullptr ? waiting.last->next_ : waiting.first) = &one;
  waiting.last = &one;
  one.in_line_ = true;
  return false;
}

void gate::remove(wait& one) noexcept {
  line& waiting = line_of(one);
  (one.previous_ != nullptr ? one.previous_->next_ : waiting.first) = one.next_;
  (one.next_ != nullptr ? one.next_->previous_ : waiting.last) = one.previous_;
  one.next_ = one.previous_ = nullptr;
  one.in_line_ = false;
}

/// Resumed in an event of its own: whoever ends waits is in the middle of something.
void gate::end(wait& one, std::error_code error) noexcept {
  remove(one);
  one.error_ = error;
  one.who_->complete();
}

void gate::end_all(std::error_code error) noexcept {
  for (line* each : {&ready_, &flushed_}) {
    while (each->first != nullptr) end(*each->first, error);
  }
}

bool gate::wait::cancel() noexcept {
  if (!in_line_) return false;
  at_->remove(*this);
  error_ = errc::canceled;
  return true;
}

}  // namespace tartan::buf
