#pragma once
/// What a body has to be.

#include <atomic>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

namespace load {

/// Given, or the first that comes. Threads: any.
class expectation {
 public:
  /// The first body says it.
  expectation() = default;
  explicit expectation(std::string body) : body_{std::move(body)}, view_{body_}, known_{&view_} {}
  expectation(const expectation&) = delete;
  expectation& operator=(const expectation&) = delete;

  /// Null until there is one. Lifetime: this object's, from then on.
  [[nodiscard]] const std::string_view* known() const noexcept { return known_.load(std::memory_order_acquire); }

  /// While nothing is known, one who asks is told to keep the body, however long it may be. He gives that up if he got none.
  [[nodiscard]] bool claim() noexcept { return !is_claimed_.exchange(true, std::memory_order_relaxed); }
  void give_up() noexcept { is_claimed_.store(false, std::memory_order_relaxed); }

  /// What is known from now on is this body, or one that came before it. The lock is taken once by each client, at most.
  void learn(std::string body) {
    const std::lock_guard lock{mutex_};
    if (known_.load(std::memory_order_relaxed) == nullptr) {
      body_ = std::move(body);
      view_ = body_;
      known_.store(&view_, std::memory_order_release);  // pairs with known()
    }
  }

 private:
  std::mutex mutex_;
  std::string body_;
  std::string_view view_;
  std::atomic<const std::string_view*> known_{nullptr};
  std::atomic<bool> is_claimed_{false};
};

}  // namespace load
