#include "core/cpu_follower.h"

#include <algorithm>
#include <exception>
#include <string>
#include <system_error>
#include <utility>

#include "core/cpus.h"
#include "core/fatal.h"
#include "core/lifecycle.h"
#include "core/signals.h"

namespace tartan::detail {

cpu_follower::cpu_follower(lifecycle& life) : life_{life} {
  const signals_blocked quiet;  // inherited
  thread_ = std::thread{[this] { watch(); }};
}

cpu_follower::~cpu_follower() {
  {
    const std::lock_guard hold{lock_};
    stopping_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void cpu_follower::look(unsigned cpus, unsigned most, state& last, const std::function<void(unsigned)>& set_workers) {
  const unsigned wanted = std::clamp(cpus, 1u, most);
  if (wanted == last.workers) return;
  try {
    set_workers(wanted);
    last.workers = wanted;
  } catch (const std::exception& none) {
    last.workers = 0;  // some may have come
    if (std::exchange(last.told, wanted) == wanted) return;
    report({"options.follow_cpus: no thread for worker ", std::to_string(wanted), ": ", none.what()});
  }
}

void cpu_follower::watch() {
  state last{life_.wanted()};
  std::unique_lock hold{lock_};
  while (!wake_.wait_for(hold, period, [this] { return stopping_; })) {
    hold.unlock();
    try {
      look(usable_cpus(), life_.size(), last, [this](unsigned wanted) { life_.set_workers(wanted); });
    } catch (const std::exception&) {
      // No memory to look, or to say what was wrong: once more in a second.
    }
    hold.lock();
  }
}

}  // namespace tartan::detail
