// Ways for a thread of a model test to wait: waiting is no spinning here, so it costs no states, and a wait that nobody ends
// is reported as a deadlock.
#pragma once

#include <atomic>

#include "model_memory.h"

namespace tartan::model {

/// Waits until a load of `word` could return a value that `accepts` likes, and returns it: a spin in one step.
template <class T, class Predicate>
T wait_until(const model_atomic<T>& word, std::memory_order order, Predicate accepts) {
  struct filter final : value_filter {
    explicit filter(Predicate& predicate) : predicate_{&predicate} {}
    [[nodiscard]] bool accepts(std::uint64_t bits) const override { return (*predicate_)(value_of<T>(bits)); }
    Predicate* predicate_;
  };
  const filter wanted{accepts};
  return value_of<T>(explorer::here().wait_until(word.location(), order, wanted));
}

/// What a worker sleeps on, as an eventfd or a binary semaphore: a signal stays until one wait takes it, and what was done
/// before the signal is visible after the wait. It is no fence for anything else.
class token {
 public:
  explicit token(const char* name = nullptr) : word_{0, name} {}
  void signal() noexcept { explorer::here().signal(word_.location()); }
  void wait() noexcept { explorer::here().wait(word_.location(), timeout::never); }
  /// False if the wait timed out.
  [[nodiscard]] bool wait_for(timeout patience) noexcept { return explorer::here().wait(word_.location(), patience); }

 private:
  model_atomic<unsigned> word_;
};

}  // namespace tartan::model
