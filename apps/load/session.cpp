#include "load/session.h"

#include <tartan/core/spawn.h>

#include <exception>
#include <stdexcept>
#include <string>
#include <utility>

#include "common/descriptor_limit.h"

namespace load {

void raise_descriptor_limit(std::uint64_t clients) {
  constexpr std::uint64_t besides = 64;
  const std::size_t limit = tartan::apps::raise_descriptor_limit();
  if (clients + besides <= limit) return;
  throw std::runtime_error{"--clients " + std::to_string(clients) + " does not fit: this process may open " + std::to_string(limit) +
                           " files (ulimit -Hn)"};
}

tartan::options runtime_options(unsigned workers) {
  tartan::options with;
  with.workers = workers;
  with.stall_after = {};  // a machine that is loaded on purpose holds up everybody
  return with;
}

namespace {

tartan::task<> keep_exception(tartan::task<> what, std::exception_ptr& into) {
  try {
    co_await std::move(what);
  } catch (...) {
    into = std::current_exception();
  }
}

}  // namespace

void run(tartan::runtime& rt, tartan::task<> what) {
  std::exception_ptr wrong;
  rt.spawn(keep_exception(std::move(what), wrong));
  rt.run_until_idle();
  if (wrong) std::rethrow_exception(wrong);
}

}  // namespace load
