// select() tells levels: what is ready is told as long as it is. Who is told sets one bit, and the operation is tried some time later, perhaps
// behind much else; meanwhile the same descriptor would end each wait at once. So the interest is for one report. Nothing gets lost by that, for
// whoever waits again asks again, and the level still stands: neither a hang-up nor urgent data needs to be told besides, as by epoll's edges.
//
// A blocked call has a copy of the sets. Who adds to them rings the bells of those whose copy lacks it; who closes waits until those are out
// whose copy has it. Bells are one for each worker, for a shared one could be silenced by the first who hears it before the second has.
#include "io/select/select_source.h"

#include <cerrno>
#include <span>
#include <string>
#include <system_error>
#include <utility>

#include "core/fatal.h"
#include "core/sleep/poller.h"
#include "io/readiness.h"

namespace tartan::detail {

namespace {

constexpr std::uint64_t ns_per_us = 1000;
constexpr std::uint64_t us_per_s = 1'000'000;
constexpr std::size_t in = static_cast<std::size_t>(flow::in);
constexpr std::size_t out = static_cast<std::size_t>(flow::out);
constexpr std::uint32_t bit_of[] = {readiness<real_memory>::in, readiness<real_memory>::out};

constexpr bool fits(int descriptor) noexcept { return descriptor >= 0 && descriptor < FD_SETSIZE; }

/// Rounded up: who wakes too early would only sleep again.
timeval to_limit(std::uint64_t ns) noexcept {
  const std::uint64_t us = ns / ns_per_us + (ns % ns_per_us != 0 ? 1 : 0);
  return {static_cast<time_t>(us / us_per_s), static_cast<suseconds_t>(us % us_per_s)};
}

event_bell fitting_bell(const bell_calls& calls) {
  event_bell made{calls};
  if (!fits(made.descriptor())) throw std::system_error{EMFILE, std::system_category(), "an eventfd below FD_SETSIZE, for select()"};
  return made;
}

}  // namespace

/// What one worker is about.
struct select_source::visit {
  struct report {
    std::uint64_t mark;
    int descriptor;
    std::uint32_t bits;
  };

  explicit visit(event_bell its_bell) noexcept : bell{std::move(its_bell)} {}

  const event_bell bell;
  // its own
  std::array<report, FD_SETSIZE> reports;
  std::size_t count = 0;
  // guarded by the lock
  both_ways asked{};     ///< what the call was asked for
  bool inside = false;   ///< it is in the call
  bool blocks = false;   ///< and its bell ends that
  bool rung = false;

  /// Whether its call has the descriptor.
  [[nodiscard]] bool has(int descriptor) const noexcept {
    return inside && (FD_ISSET(descriptor, &asked[in]) || FD_ISSET(descriptor, &asked[out]));
  }
};

select_source::select_source(unsigned workers, select_calls calls)
    : calls_{calls},
      call_bell_{fitting_bell(calls_)},
      guard_{[](void* source) noexcept { static_cast<select_source*>(source)->lose_threads(); }, this} {
  FD_ZERO(&watched_);
  for (fd_set& each : wanted_) FD_ZERO(&each);
  for (unsigned n = 0; n < workers; ++n) visits_.push_back(std::make_unique<visit>(fitting_bell(calls_)));
}

select_source::~select_source() = default;

/// In a child of fork: those that were in a call are not there.
void select_source::lose_threads() noexcept {
  for (const auto& each : visits_) each->inside = each->blocks = false;
  blocked_ = 0;
}

int select_source::watch(int descriptor, std::uint64_t mark) noexcept {
  struct stat about {};
  if (calls_.stat(descriptor, &about) < 0) return -errno;
  if (S_ISREG(about.st_mode) || S_ISDIR(about.st_mode)) return -EPERM;
  if (!fits(descriptor)) return -EMFILE;
  const std::lock_guard hold{lock_};
  owner& of = owners_[static_cast<std::size_t>(descriptor)];
  if (FD_ISSET(descriptor, &watched_)) {
    // Eventfds and the like are of no type, and to fstat all of them are one file.
    const bool has_identity = (about.st_mode & S_IFMT) != 0;
    if (has_identity && of.device == about.st_dev && of.inode == about.st_ino) return -EEXIST;
    // Somebody else has closed what had the number. A call that blocks has that still, and hears nothing of the new one.
    for (fd_set& each : wanted_) FD_CLR(descriptor, &each);  // what its owner wanted
    static_cast<void>(end_calls_with(descriptor));
  }
  FD_SET(descriptor, &watched_);
  of = {mark, about.st_dev, about.st_ino};
  if (descriptor > highest_) highest_ = descriptor;
  return 0;
}

void select_source::want(int descriptor, flow way) noexcept {
  const std::lock_guard hold{lock_};
  if (fits(descriptor) && FD_ISSET(descriptor, &watched_)) add(descriptor, static_cast<std::size_t>(way));
}

void select_source::add(int descriptor, std::size_t way) noexcept {
  if (FD_ISSET(descriptor, &wanted_[way])) return;
  FD_SET(descriptor, &wanted_[way]);
  if (blocked_ == 0) return;
  for (const auto& each : visits_) {
    if (each->blocks && !FD_ISSET(descriptor, &each->asked[way])) rouse(*each);
  }
}

/// Whoever blocks comes back for a new copy.
void select_source::rouse(visit& who) noexcept {
  if (who.blocks && !std::exchange(who.rung, true)) who.bell.ring();
}

/// Rouses those whose calls have it. False: there are none.
bool select_source::end_calls_with(int descriptor) noexcept {
  bool any = false;
  for (const auto& each : visits_) {
    if (!each->has(descriptor)) continue;
    rouse(*each);
    any = true;
  }
  return any;
}

void select_source::forget(int descriptor) noexcept {
  std::unique_lock hold{lock_};
  if (!fits(descriptor) || !FD_ISSET(descriptor, &watched_)) return;
  FD_CLR(descriptor, &watched_);
  for (fd_set& each : wanted_) FD_CLR(descriptor, &each);
  while (highest_ >= 0 && !FD_ISSET(highest_, &watched_)) --highest_;
  ++leavers_;
  while (end_calls_with(descriptor)) one_left_.wait(hold);
  --leavers_;
}

/// Gives the number of the call's highest descriptor and one more.
int select_source::enter(visit& mine, both_ways& sets, bool blocks) noexcept {
  const std::lock_guard hold{lock_};
  mine.asked = sets = wanted_;
  mine.inside = true;
  mine.blocks = blocks;
  int highest = highest_;
  if (!blocks) return highest + 1;
  ++blocked_;
  for (const int bell : {call_bell_.descriptor(), mine.bell.descriptor()}) {
    FD_SET(bell, &sets[in]);
    if (bell > highest) highest = bell;
  }
  return highest + 1;
}

/// Gives whether it was called.
bool select_source::leave(visit& mine, both_ways& found, int got, int error) noexcept {
  const std::lock_guard hold{lock_};
  if (mine.blocks) --blocked_;
  mine.inside = mine.blocks = false;
  if (leavers_ != 0) one_left_.notify_all();
  if (error == EBADF) report_closed(mine);
  if (got <= 0) return false;
  // A bell that rings from now on stays until the next wait; so it is silenced before what it tells of is looked at.
  if (FD_ISSET(mine.bell.descriptor(), &found[in])) {
    FD_CLR(mine.bell.descriptor(), &found[in]);
    --got;
    mine.bell.silence();
    mine.rung = false;
  }
  bool called = false;
  if (FD_ISSET(call_bell_.descriptor(), &found[in])) {
    FD_CLR(call_bell_.descriptor(), &found[in]);
    --got;
    call_bell_.silence();
    called = called_.exchange(false, std::memory_order_acq_rel);  // pairs with call
  }
  for (int descriptor = 0; got > 0 && descriptor <= highest_; ++descriptor) got -= report(mine, descriptor, found);
  return called;
}

bool select_source::look(visit& mine, std::uint64_t at_most_ns) noexcept {
  both_ways sets;
  const int upto = enter(mine, sets, at_most_ns != 0);
  timeval limit = to_limit(at_most_ns);
  const int got = calls_.select(upto, &sets[in], &sets[out], nullptr, at_most_ns == never_ns ? nullptr : &limit);
  const int error = got < 0 ? errno : 0;
  // Without memory for the sets in the kernel it is tried again, as after a signal.
  if (error != 0 && error != EINTR && error != ENOMEM && error != EBADF) {
    fatal({"select failed with errno ", std::to_string(error), "; workers cannot sleep here"});
  }
  return leave(mine, sets, got, error);
}

/// What another worker has taken meanwhile is wanted no more. Gives in how many sets it was found.
int select_source::report(visit& mine, int descriptor, const both_ways& found) noexcept {
  int sets = 0;
  std::uint32_t bits = 0;
  for (const std::size_t way : {in, out}) {
    if (!FD_ISSET(descriptor, &found[way])) continue;
    ++sets;
    if (!FD_ISSET(descriptor, &wanted_[way])) continue;
    FD_CLR(descriptor, &wanted_[way]);
    bits |= bit_of[way];
  }
  if (bits != 0) mine.reports[mine.count++] = {owners_[static_cast<std::size_t>(descriptor)].mark, descriptor, bits};
  return sets;
}

/// Somebody else has closed what is wanted here: who waits for it is told by its own call.
void select_source::report_closed(visit& mine) noexcept {
  const auto is_closed = [this](int descriptor) { return calls_.flags(descriptor) < 0 && errno == EBADF; };
  if (is_closed(call_bell_.descriptor()) || is_closed(mine.bell.descriptor())) {
    fatal({"an eventfd of the runtime's was closed; workers cannot sleep here"});
  }
  for (int descriptor = 0; descriptor <= highest_; ++descriptor) {
    const bool wanted = FD_ISSET(descriptor, &wanted_[in]) || FD_ISSET(descriptor, &wanted_[out]);
    if (wanted && is_closed(descriptor)) static_cast<void>(report(mine, descriptor, both_ways{wanted_}));
  }
}

readiness_source::ended_by select_source::wait(unsigned worker, std::uint64_t at_most_ns) noexcept {
  visit& mine = *visits_[worker];
  const bool called = look(mine, at_most_ns);
  if (mine.count != 0) return ended_by::readiness;
  return called ? ended_by::call : ended_by::time;
}

void select_source::call() noexcept {
  called_.store(true, std::memory_order_release);  // pairs with leave
  call_bell_.ring();
}

bool select_source::post(visit& from) noexcept {
  bool posted = false;
  for (std::size_t n = 0; n < from.count; ++n) posted = ledger_->ready(from.reports[n].mark, from.reports[n].bits) || posted;
  from.count = 0;
  return posted;
}

void select_source::deliver(unsigned worker) noexcept { static_cast<void>(post(*visits_[worker])); }

bool select_source::set_aside(unsigned worker) noexcept {
  visit& mine = *visits_[worker];
  if (mine.count == 0) return false;
  const std::lock_guard hold{lock_};
  for (const visit::report& each : std::span{mine.reports}.first(mine.count)) {
    if (!FD_ISSET(each.descriptor, &watched_) || owners_[static_cast<std::size_t>(each.descriptor)].mark != each.mark) continue;
    for (const std::size_t way : {in, out}) {
      if ((each.bits & bit_of[way]) != 0) add(each.descriptor, way);
    }
  }
  mine.count = 0;
  return true;
}

bool select_source::harvest(unsigned worker) noexcept {
  visit& mine = *visits_[worker];
  static_cast<void>(look(mine, 0));
  return post(mine);
}

}  // namespace tartan::detail
