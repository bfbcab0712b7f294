#include <tartan/core/strand.h>

#include <tartan/core/runtime.h>
#include <utility>

#include "core/fatal.h"
#include "core/runtime_state.h"
#include "core/sched/policy.h"
#include "core/worker.h"

namespace tartan {

namespace detail {

void moved_from_strand(std::source_location site) noexcept {
  fatal({"a strand that was moved from is used at ", place(site)});
}

namespace {

strand_state* open_strand(runtime_state& rt, std::string_view name) {
  strand_state* const s = rt.policy().open_strand(rt.worker_here(), !name.empty());
  try {
    if (!name.empty()) rt.name(rt.policy().color_of(*s), name);
  } catch (...) {
    rt.policy().close_strand(*s, rt.worker_here());
    throw;
  }
  return s;
}

}  // namespace

}  // namespace detail

strand::strand(runtime& rt, std::string_view name) : state_{detail::open_strand(rt.state(), name)} {}

strand::strand(std::string_view name, std::source_location site)
    : state_{detail::open_strand(detail::required_runtime("tartan::strand", site), name)} {}

strand& strand::operator=(strand&& other) noexcept {
  if (this != &other) {
    strand old{std::move(*this)};
    state_ = std::exchange(other.state_, nullptr);
  }
  return *this;
}

strand::~strand() {
  if (state_ == nullptr) return;
  detail::runtime_state& rt = detail::runtime_of(*state_);
  rt.policy().close_strand(*state_, rt.worker_here());
}

color strand::value(std::source_location site) const noexcept {
  detail::strand_state& s = state(site);
  return detail::runtime_of(s).policy().color_of(s);
}

}  // namespace tartan
