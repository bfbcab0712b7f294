// Memories with one thing missing: a protocol that passes on one of these does not need it, or its test does not see it.
#pragma once

#include "model_memory.h"

namespace tartan::model {

struct without_heavy_barrier : model_memory {
  static void heavy_barrier() noexcept {}
};

struct without_light_barrier : model_memory {
  static void light_barrier() noexcept {}
};

struct without_full_barrier : model_memory {
  static void full_barrier() noexcept {}
};

/// A heavy barrier that runs in the calling thread only, as a fence would.
struct with_fences_for_heavy_barriers : model_memory {
  static void heavy_barrier() noexcept { model_memory::full_barrier(); }
};

/// Every access relaxed: what remains is each atomic's own modification order.
struct without_order {
  template <class T>
  class atomic {
    static constexpr auto any = std::memory_order_relaxed;

   public:
    atomic() = default;
    explicit atomic(T value, const char* name = nullptr) : inner_{value, name} {}
    [[nodiscard]] T load(std::memory_order /*order*/) const noexcept { return inner_.load(any); }
    void store(T value, std::memory_order /*order*/) noexcept { inner_.store(value, any); }
    T exchange(T value, std::memory_order /*order*/) noexcept { return inner_.exchange(value, any); }
    [[nodiscard]] bool compare_exchange_strong(T& expected, T desired, std::memory_order /*success*/,
                                               std::memory_order /*failure*/) noexcept {
      return inner_.compare_exchange_strong(expected, desired, any, any);
    }
    [[nodiscard]] bool compare_exchange_weak(T& expected, T desired, std::memory_order /*success*/,
                                             std::memory_order /*failure*/) noexcept {
      return inner_.compare_exchange_weak(expected, desired, any, any);
    }
    T fetch_add(T operand, std::memory_order /*order*/) noexcept { return inner_.fetch_add(operand, any); }
    T fetch_sub(T operand, std::memory_order /*order*/) noexcept { return inner_.fetch_sub(operand, any); }
    T fetch_and(T operand, std::memory_order /*order*/) noexcept { return inner_.fetch_and(operand, any); }
    T fetch_or(T operand, std::memory_order /*order*/) noexcept { return inner_.fetch_or(operand, any); }

   private:
    model_atomic<T> inner_;
  };
  template <class T>
  using plain = model_plain<T>;

  static void light_barrier() noexcept { model_memory::light_barrier(); }
  static void heavy_barrier() noexcept { model_memory::heavy_barrier(); }
  static void full_barrier() noexcept { model_memory::full_barrier(); }
  static void pause() noexcept { model_memory::pause(); }
  static void relax() noexcept {}
  static void prefetch(const void* /*line*/) noexcept {}
};

}  // namespace tartan::model
