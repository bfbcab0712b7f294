// Atomics, shared plain data and barriers, behind one type that a model checker can replace.
//
// A lock-free protocol is written once, as a template over `Memory`. The runtime instantiates it with real_memory, where every
// call is one machine instruction or none; the tests instantiate it with the model checker's memory, which also shows stale
// loads and stores that come late (docs/design/model-checking.md). The order of every access is always spelled out.
#pragma once

#include <atomic>
#include <type_traits>

#if defined(__SANITIZE_THREAD__)
#define TARTAN_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TARTAN_THREAD_SANITIZER 1
#endif
#endif
#if !defined(TARTAN_THREAD_SANITIZER)
#define TARTAN_THREAD_SANITIZER 0
#endif

namespace tartan::detail {

/// How light and heavy barriers are made in this process.
enum class barrier_kind : unsigned char {
  symmetric,   // both are full fences; always right, and so the state before anybody chose
  asymmetric,  // light holds back only the compiler, heavy makes the kernel run a fence on every CPU of the process
};

// Written before the first worker starts and then only read, hence relaxed everywhere; starting a thread publishes it.
inline constinit std::atomic<barrier_kind> chosen_barriers{barrier_kind::symmetric};

#if TARTAN_THREAD_SANITIZER
// ThreadSanitizer sees neither fences nor membarrier, and gcc 12 warns about them. Read-modify-writes of one word order the
// same accesses in a way that it does see.
inline constinit std::atomic<unsigned> barrier_word{0};
#endif

/// Chooses membarrier where the kernel grants it and fences elsewhere, or when the environment has TARTAN_NO_MEMBARRIER=1.
/// Threads: any, before the first worker starts; every call after the first only reports.
barrier_kind choose_barriers() noexcept;

/// Overrides the choice, for tests; asking for asymmetric where the kernel refuses membarrier leaves symmetric.
/// Threads: only while no other thread uses a barrier.
barrier_kind force_barriers(barrier_kind wanted) noexcept;

// Ends the program if the kernel takes back what it granted at registration: light barriers already rely on it.
void run_membarrier() noexcept;

/// std::atomic with the order of every access spelled out.
template <class T>
class real_atomic {
  static_assert(std::is_trivially_copyable_v<T>);
  static_assert(std::atomic<T>::is_always_lock_free, "a protocol word must fit one machine word");

 public:
  constexpr real_atomic() noexcept : value_{T{}} {}
  /// The name is what a model checker prints; it costs nothing here.
  constexpr explicit real_atomic(T value, const char* /*name*/ = nullptr) noexcept : value_{value} {}

  [[nodiscard]] T load(std::memory_order order) const noexcept { return value_.load(order); }
  void store(T value, std::memory_order order) noexcept { value_.store(value, order); }
  T exchange(T value, std::memory_order order) noexcept { return value_.exchange(value, order); }

  [[nodiscard]] bool compare_exchange_strong(T& expected, T desired, std::memory_order success,
                                             std::memory_order failure) noexcept {
    return value_.compare_exchange_strong(expected, desired, success, failure);
  }
  [[nodiscard]] bool compare_exchange_weak(T& expected, T desired, std::memory_order success,
                                           std::memory_order failure) noexcept {
    return value_.compare_exchange_weak(expected, desired, success, failure);
  }

  T fetch_add(T operand, std::memory_order order) noexcept
    requires std::is_integral_v<T>
  {
    return value_.fetch_add(operand, order);
  }
  T fetch_sub(T operand, std::memory_order order) noexcept
    requires std::is_integral_v<T>
  {
    return value_.fetch_sub(operand, order);
  }
  T fetch_and(T operand, std::memory_order order) noexcept
    requires std::is_integral_v<T>
  {
    return value_.fetch_and(operand, order);
  }
  T fetch_or(T operand, std::memory_order order) noexcept
    requires std::is_integral_v<T>
  {
    return value_.fetch_or(operand, order);
  }
  T fetch_xor(T operand, std::memory_order order) noexcept
    requires std::is_integral_v<T>
  {
    return value_.fetch_xor(operand, order);
  }

 private:
  std::atomic<T> value_;
};

/// Shared data that the protocol around it keeps free of races; the checker proves that it does.
template <class T>
class real_plain {
 public:
  constexpr real_plain() noexcept : value_{} {}
  constexpr explicit real_plain(T value, const char* /*name*/ = nullptr) noexcept : value_{value} {}
  real_plain(const real_plain&) = delete;
  real_plain& operator=(const real_plain&) = delete;

  [[nodiscard]] T get() const noexcept { return value_; }
  void set(T value) noexcept { value_ = value; }
  operator T() const noexcept { return value_; }
  real_plain& operator=(T value) noexcept {
    value_ = value;
    return *this;
  }

 private:
  T value_;
};

/// One value in memory that is plain elsewhere: read and written whole, and relaxed, where one thread may write it while others read it.
template <class T>
[[nodiscard]] T read_whole(const T& from) noexcept {
  static_assert(std::atomic_ref<T>::is_always_lock_free && std::atomic_ref<T>::required_alignment <= alignof(T));
  return std::atomic_ref<T>{const_cast<T&>(from)}.load(std::memory_order_relaxed);
}
template <class T>
void write_whole(T& to, T value) noexcept {
  std::atomic_ref<T>{to}.store(value, std::memory_order_relaxed);
}

/// The machine itself, as the `Memory` argument of a protocol.
struct real_memory {
  template <class T>
  using atomic = real_atomic<T>;
  template <class T>
  using plain = real_plain<T>;

  /// The cheap side of an asymmetric pair: earlier stores are ordered before later loads against every heavy_barrier().
  /// Cost: one predictable branch with membarrier, one full fence without.
  static void light_barrier() noexcept {
#if TARTAN_THREAD_SANITIZER
    full_barrier();
#else
    if (chosen_barriers.load(std::memory_order_relaxed) == barrier_kind::asymmetric) [[likely]] {
      std::atomic_signal_fence(std::memory_order_seq_cst);
    } else {
      std::atomic_thread_fence(std::memory_order_seq_cst);
    }
#endif
  }

  /// The dear side: a full fence in the calling thread and, with membarrier, in every other thread of the process.
  /// Cost: with membarrier a system call, of 0.1 to 0.5 us while the process's other threads sleep; while one runs its CPU is interrupted, which in
  /// virtual machines takes from 0.7 to over 20 us, and stops that thread for nearly as long. Without, one full fence.
  static void heavy_barrier() noexcept {
#if TARTAN_THREAD_SANITIZER
    full_barrier();
#else
    if (chosen_barriers.load(std::memory_order_relaxed) == barrier_kind::asymmetric) {
      run_membarrier();
    } else {
      std::atomic_thread_fence(std::memory_order_seq_cst);
    }
#endif
  }

  /// A sequentially consistent fence, for both sides of a pair.
  static void full_barrier() noexcept {
#if TARTAN_THREAD_SANITIZER
    // pairs with every other barrier's: the later of two reads from the earlier
    barrier_word.fetch_add(1, std::memory_order_acq_rel);
#else
    std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
  }

  /// Asks for a cache line that this thread will write to soon. Any address: nothing is accessed. Null costs a walk through the page table.
  static void prefetch(const void* line) noexcept {
#if defined(__x86_64__)
    // What __builtin_prefetch gives without a newer instruction set fetches for reading only; then the write waits for the other core once more.
    // Processors that do not know this one do nothing.
    asm volatile("prefetchw %0" : : "m"(*static_cast<const char*>(line)));
#else
    __builtin_prefetch(line, 1);
#endif
  }

  /// One turn of a loop that ends only when another thread writes to something read in this turn: the checker blocks here until then.
  static void pause() noexcept { relax(); }

  /// One turn of a spin that gives up by itself: the checker goes straight on.
  static void relax() noexcept {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
  }
};

}  // namespace tartan::detail
