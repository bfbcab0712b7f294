// Each reader gets a value of its own from one that all share. A copy may throw, may allocate, and may be the user's
// code, which has no place under a lock or inside a runtime's gate. So the ring keeps shared pointers, and only these
// are copied there.

#include <tartan/core/last_values.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace tartan::detail {

namespace {

std::size_t checked(std::size_t kept, const char* what) {
  if (kept != 0) return kept;
  throw std::invalid_argument{std::string{"tartan: "} + what + " of capacity 0; it must keep at least one value"};
}

}  // namespace

last_values::last_values(std::size_t kept, const char* what) : ring_(checked(kept, what)), readers_{lock_, what} {}

bool last_values::add(kept_value value) noexcept {
  waiter* served = nullptr;
  {
    const holding hold{lock_};
    if (closed_) return false;
    kept_value& place = at(added_);
    place.swap(value);
    ++added_;
    served = take_all(place, {});
  }
  waiting_line::complete_all(served);  // a coroutine that it wakes may destroy this object
  return true;
}

std::error_code last_values::take(reading& reader, when_behind then, chain* waits) noexcept {
  const holding hold{lock_};
  if (reader.next == added_) {
    if (closed_) return errc::end_of_stream;
    if (waits != nullptr) readers_.join(reader, *waits);
    return errc::busy;
  }
  const std::uint64_t oldest = added_ > ring_.size() ? added_ - ring_.size() : 0;
  if (reader.next < oldest) {
    reader.lost = oldest - std::exchange(reader.next, oldest);
    if (then == when_behind::is_told) return errc::lagged;
  }
  reader.value = at(reader.next++);
  return {};
}

kept_value last_values::latest(std::uint64_t& next) noexcept {
  const holding hold{lock_};
  next = added_;
  return added_ != 0 ? at(added_ - 1) : nullptr;
}

void last_values::close() noexcept {
  waiter* served = nullptr;
  {
    const holding hold{lock_};
    closed_ = true;
    served = take_all(nullptr, errc::end_of_stream);
  }
  waiting_line::complete_all(served);  // as in add
}

std::uint64_t last_values::added() noexcept {
  const holding hold{lock_};
  return added_;
}

/// Under the lock: takes all readers out of the line, in their order. A reader that waits has seen all values before.
waiter* last_values::take_all(const kept_value& value, std::error_code outcome) noexcept {
  waiter* newest_first = nullptr;
  while (waiter* const one = readers_.take_first()) {
    auto& reader = *static_cast<reading*>(one);
    reader.value = value;
    reader.next = added_;
    reader.outcome = outcome;
    newest_first = waiting_line::in_front(*one, newest_first);
  }
  return waiting_line::turned_around(newest_first, nullptr);
}

}  // namespace tartan::detail
