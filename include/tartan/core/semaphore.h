#pragma once
/// A limit on how many coroutines do something at once.

#include <coroutine>
#include <cstddef>
#include <system_error>
#include <tartan/core/result.h>
#include <tartan/core/task.h>
#include <tartan/core/waiting_line.h>
#include <utility>

namespace tartan {

/// Permits: `auto permit = co_await s.acquire()` waits for one, and gives it back at the end of its scope.
///
/// Color: none of its own: usable from all colors at once. Threads: any; outside of events try_acquire and the permit's end.
/// Lifetime: must outlive its permits, and must not be destroyed while a coroutine waits: that ends the program with a message.
/// Order: first come, first served; no permit is taken past somebody who waits.
/// Cost: one short lock; a post if somebody waits.
class semaphore {
 public:
  explicit semaphore(std::size_t permits) noexcept : available_{permits} {}
  semaphore(const semaphore&) = delete;
  semaphore& operator=(const semaphore&) = delete;

  /// The right to go on, until it is destroyed or released.
  class [[nodiscard]] permit {
   public:
    permit() noexcept = default;
    permit(permit&& other) noexcept : from_{std::exchange(other.from_, nullptr)} {}
    permit& operator=(permit&& other) noexcept {
      if (this != &other) {
        release();
        from_ = std::exchange(other.from_, nullptr);
      }
      return *this;
    }
    ~permit() { release(); }

    void release() noexcept {
      if (from_ != nullptr) std::exchange(from_, nullptr)->give_back();
    }

   private:
    friend class semaphore;
    explicit permit(semaphore& from) noexcept : from_{&from} {}
    semaphore* from_ = nullptr;
  };

  class acquire_operation final : public detail::waiter {
   public:
    explicit acquire_operation(semaphore& from) noexcept : from_{&from} {}
    acquire_operation(acquire_operation&& other) noexcept : waiter{std::move(other)}, from_{other.from_} {}
    [[nodiscard]] const char* name() const noexcept override { return "a semaphore"; }

    [[nodiscard]] bool await_ready() const noexcept { return false; }
    template <detail::colored_promise Promise>
    [[nodiscard]] bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
      detail::chain& who = self.promise().in();
      const bool canceled = who.cancel_requested();
      if (from_->take(canceled ? nullptr : this, &who)) {
        granted_ = true;
      } else if (!canceled) {
        return who.wait(self, *this);
      }
      return who.at_once(self);
    }
    result<permit> await_resume() noexcept {
      if (granted_) return permit{*from_};
      return errc::canceled;
    }

   private:
    friend class semaphore;
    semaphore* from_;
    bool granted_ = false;
  };

  /// Errors: errc::canceled if it would have to wait and the coroutine was asked to end.
  [[nodiscard]] acquire_operation acquire() noexcept { return acquire_operation{*this}; }

  /// Errors: errc::busy if there is none.
  result<permit> try_acquire() noexcept {
    if (take(nullptr, nullptr)) return permit{*this};
    return errc::busy;
  }

  [[nodiscard]] std::size_t available() const noexcept;

 private:
  /// False: there is none; the waiter is in line.
  [[nodiscard]] bool take(acquire_operation* waits, detail::chain* who) noexcept;
  void give_back() noexcept;

  mutable detail::brief_lock lock_;
  std::size_t available_;  ///< under lock_; 0 while somebody waits
  detail::waiting_line line_{lock_, "a semaphore"};
};

}  // namespace tartan
