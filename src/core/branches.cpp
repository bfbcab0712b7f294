#include <tartan/core/branches.h>

namespace tartan::detail {

struct branch::events {
  static void home(event& e) {
    auto& b = static_cast<branch&>(of(e));
    b.owner().ended(b);
  }
  static constexpr event_ops home_ops{.run = &home, .drop = &drop_event, .pooled = false, .hinted = true, .counted = false};
};

void branch::open(branches& of) noexcept {
  owner_ = &of;
  const chain& parent = *of.parent_;
  chain::open(parent.runtime(), parent.where(), parent.site());
  if (parent.cancel_requested()) cancel();
}

void branch::finish() noexcept {
  const color home = owner().parent_->where();
  if (where() == home) return owner().ended(*this);
  set_color(home);
  post(events::home_ops);
}

void branches::open(chain& parent, branch* first, std::size_t count) noexcept {
  parent_ = &parent;
  first_ = first;
  count_ = count;
  running_ = 1;  // the start itself, so that branches that end at once do not complete what has not begun
}

std::span<branch> branches::all() noexcept { return {first_, count_}; }

branch& branches::prepare(std::size_t index) noexcept {
  branch& b = first_[index];
  b.open(*this);
  ++running_;
  return b;
}

bool branches::started(std::coroutine_handle<> self) noexcept {
  if (--running_ == 0) return parent_->at_once(self);
  return parent_->wait(self, *this);
}

void branches::ended(const branch& which) noexcept {
  branch_ended(static_cast<std::size_t>(&which - first_));
  let_go();
}

void branches::cancel_all() noexcept {
  for (std::size_t n = 0; n < count_; ++n) first_[n].cancel();
}

}  // namespace tartan::detail
