#pragma once
/// Something that happens once, and coroutines that wait for it.

#include <coroutine>
#include <tartan/core/task.h>
#include <tartan/core/waiting_line.h>

namespace tartan::rpc::detail {

/// Color: any.
/// Lifetime: must outlive its waits.
class one_shot {
 public:
  explicit one_shot(const char* what) noexcept : what_{what}, line_{lock_, what} {}
  one_shot(const one_shot&) = delete;
  one_shot& operator=(const one_shot&) = delete;

  class wait final : public tartan::detail::waiter {
   public:
    explicit wait(one_shot& on) noexcept : on_{&on} {}
    wait(wait&& other) noexcept : waiter{std::move(other)}, on_{other.on_} {}
    [[nodiscard]] const char* name() const noexcept override { return on_->what_; }

    [[nodiscard]] bool await_ready() const noexcept { return false; }
    template <tartan::detail::colored_promise Promise>
    [[nodiscard]] bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
      tartan::detail::chain& who = self.promise().in();
      if (on_->is_over(who.cancel_requested() ? nullptr : this, who) || who.cancel_requested())
        return who.at_once(self);
      return who.wait(self, *this);
    }
    /// False: the coroutine was canceled first.
    bool await_resume() const noexcept { return on_->happened(); }

   private:
    one_shot* on_;
  };

  /// `co_await o.happens()`.
  [[nodiscard]] wait happens() noexcept { return wait{*this}; }

  [[nodiscard]] bool happened() const noexcept {
    const tartan::detail::holding hold{lock_};
    return happened_;
  }

  /// What was written before is visible to those that wait. Only the first call counts: gives whether this is it.
  bool happen() noexcept {
    tartan::detail::waiter* all = nullptr;
    {
      const tartan::detail::holding hold{lock_};
      if (happened_) return false;
      happened_ = true;
      while (tartan::detail::waiter* const one = line_.take_first()) {
        all = tartan::detail::waiting_line::in_front(*one, all);
      }
    }
    tartan::detail::waiting_line::complete_all(all);
    return true;
  }

 private:
  /// If not, and there is a waiter, it is in line.
  [[nodiscard]] bool is_over(wait* waits, tartan::detail::chain& who) noexcept {
    const tartan::detail::holding hold{lock_};
    if (!happened_ && waits != nullptr) line_.join(*waits, who);
    return happened_;
  }

  const char* what_;
  mutable tartan::detail::brief_lock lock_;
  bool happened_ = false;
  tartan::detail::waiting_line line_;
};

}  // namespace tartan::rpc::detail
