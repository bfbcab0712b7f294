// swapcontext() makes two system calls per switch, to save a signal mask that nobody here changes; an exploration switches
// tens of millions of times. On x86-64 the switch is therefore written by hand (six registers and the stack pointer); other
// machines use ucontext. AddressSanitizer and ThreadSanitizer are told of each switch, or they take one stack for another.

#include "fiber.h"

#include <cstdint>
#include <cstdlib>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TARTAN_MODEL_ASAN 1
#endif
#if __has_feature(thread_sanitizer)
#define TARTAN_MODEL_TSAN 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define TARTAN_MODEL_ASAN 1
#endif
#if defined(__SANITIZE_THREAD__)
#define TARTAN_MODEL_TSAN 1
#endif

#if defined(TARTAN_MODEL_ASAN)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(TARTAN_MODEL_TSAN)
#include <sanitizer/tsan_interface.h>
#endif

#if defined(__x86_64__)
extern "C" void tartan_model_switch(void** save_stack_pointer, void* load_stack_pointer);
asm(R"(
  .text
  .p2align 4
  .globl tartan_model_switch
  .type tartan_model_switch, @function
tartan_model_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
  .size tartan_model_switch, .-tartan_model_switch
)");
#else
#include <ucontext.h>
#endif

namespace tartan::model {

struct fiber::state {
  std::unique_ptr<std::byte[]> stack;
  std::size_t stack_bytes = 0;
  entry run = nullptr;
  void* argument = nullptr;
#if defined(__x86_64__)
  void* stack_pointer = nullptr;
#else
  ucontext_t context{};
#endif
#if defined(TARTAN_MODEL_ASAN)
  void* fake_stack = nullptr;
  const void* bottom = nullptr;  // of the explorer's own stack: learned when it is first left
  std::size_t bytes = 0;
#endif
#if defined(TARTAN_MODEL_TSAN)
  void* shadow = nullptr;
  bool own_shadow = false;
#endif
};

// The first function on a fresh stack; it has no arguments, so the switch leaves a note of who comes from where.
struct fiber_start {
  static inline fiber* left = nullptr;
  static inline fiber* entered = nullptr;

  static void arrived([[maybe_unused]] fiber::state& here) {
#if defined(TARTAN_MODEL_ASAN)
    const void* bottom = nullptr;
    std::size_t bytes = 0;
    __sanitizer_finish_switch_fiber(here.fake_stack, &bottom, &bytes);
    if (left->state_->bottom == nullptr) {
      left->state_->bottom = bottom;
      left->state_->bytes = bytes;
    }
#endif
  }

  [[noreturn]] static void enter() {
    fiber::state& here = *entered->state_;
    arrived(here);
    here.run(here.argument);
    std::abort();  // an entry never returns
  }
};

fiber::fiber() : state_{std::make_unique<state>()} {
#if defined(TARTAN_MODEL_TSAN)
  state_->shadow = __tsan_get_current_fiber();
#endif
}

fiber::fiber(std::size_t stack_bytes) : state_{std::make_unique<state>()} {
  state_->stack.reset(new std::byte[stack_bytes]);  // left uninitialized: most of it is never touched
  state_->stack_bytes = stack_bytes;
#if defined(TARTAN_MODEL_ASAN)
  state_->bottom = state_->stack.get();
  state_->bytes = stack_bytes;
#endif
}

fiber::~fiber() {
#if defined(TARTAN_MODEL_ASAN)
  if (state_->stack != nullptr) {
    __asan_unpoison_memory_region(state_->stack.get(), state_->stack_bytes);
  }
#endif
#if defined(TARTAN_MODEL_TSAN)
  if (state_->own_shadow) {
    __tsan_destroy_fiber(state_->shadow);
  }
#endif
}

void fiber::start(entry run, void* argument) {
  state_->run = run;
  state_->argument = argument;
#if defined(TARTAN_MODEL_ASAN)
  // Frames that were abandoned in mid-flight left their red zones behind.
  __asan_unpoison_memory_region(state_->stack.get(), state_->stack_bytes);
#endif
#if defined(TARTAN_MODEL_TSAN)
  if (state_->own_shadow) {
    __tsan_destroy_fiber(state_->shadow);
  }
  state_->shadow = __tsan_create_fiber(0);
  state_->own_shadow = true;
#endif
#if defined(__x86_64__)
  // Six zero registers, the entry as return address, and a null above it where a debugger's walk of the stack ends.
  const auto top = reinterpret_cast<std::uintptr_t>(state_->stack.get() + state_->stack_bytes) & ~std::uintptr_t{15};
  auto* frame = reinterpret_cast<std::uintptr_t*>(top) - 8;
  for (int slot = 0; slot < 8; ++slot) {
    frame[slot] = 0;
  }
  frame[6] = reinterpret_cast<std::uintptr_t>(&fiber_start::enter);
  state_->stack_pointer = frame;
#else
  getcontext(&state_->context);
  state_->context.uc_stack.ss_sp = state_->stack.get();
  state_->context.uc_stack.ss_size = state_->stack_bytes;
  state_->context.uc_link = nullptr;
  makecontext(&state_->context, &fiber_start::enter, 0);
#endif
}

void fiber::switch_to(fiber& from, fiber& to) {
  fiber_start::left = &from;
  fiber_start::entered = &to;
#if defined(TARTAN_MODEL_ASAN)
  __sanitizer_start_switch_fiber(&from.state_->fake_stack, to.state_->bottom, to.state_->bytes);
#endif
#if defined(TARTAN_MODEL_TSAN)
  __tsan_switch_to_fiber(to.state_->shadow, 0);
#endif
#if defined(__x86_64__)
  tartan_model_switch(&from.state_->stack_pointer, to.state_->stack_pointer);
#else
  swapcontext(&from.state_->context, &to.state_->context);
#endif
  fiber_start::arrived(*from.state_);
}

}  // namespace tartan::model
