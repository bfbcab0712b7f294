#include <tartan/core/semaphore.h>

namespace tartan {

bool semaphore::take(acquire_operation* waits, detail::chain* who) noexcept {
  const detail::holding hold{lock_};
  if (available_ != 0) {
    --available_;
    return true;
  }
  if (waits != nullptr) line_.join(*waits, *who);
  return false;
}

void semaphore::give_back() noexcept {
  detail::waiter* next = nullptr;
  {
    const detail::holding hold{lock_};
    next = line_.take_first();
    if (next != nullptr) {
      static_cast<acquire_operation*>(next)->granted_ = true;  // the permit changes hands
    } else {
      ++available_;
    }
  }
  if (next != nullptr) detail::waiting_line::complete(*next);
}

std::size_t semaphore::available() const noexcept {
  const detail::holding hold{lock_};
  return available_;
}

}  // namespace tartan
