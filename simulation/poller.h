#pragma once
// Time and sleep of the simulated workers.

#include "core/sleep/poller.h"
#include "simulation/sequencer.h"

namespace simulation {

/// As futex_poller, with the prices of its system calls. There is nothing outside.
class virtual_poller final : public tartan::detail::poller {
 public:
  void attach(unsigned /*workers*/) override {}
  [[nodiscard]] std::uint64_t now_ns() noexcept override;
  tartan::detail::slept sleep(unsigned worker, tartan::detail::wake_token& token, tartan::detail::sleep_limit limit) noexcept override;
  void wake(unsigned worker, tartan::detail::wake_token& token) noexcept override;
  bool harvest(unsigned /*worker*/) noexcept override { return false; }
};

}  // namespace simulation
