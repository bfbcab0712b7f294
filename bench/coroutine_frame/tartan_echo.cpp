// How many bytes the frame of an echo coroutine takes, its buffer of 4096 bytes included.
// The number is not that of a server's connection: the stream is a stand-in, whose operations have the size of an event and a result.

#include <array>
#include <coroutine>
#include <cstddef>
#include <cstdio>
#include <span>
#include <tartan/core/result.h>
#include <tartan/core/task.h>

namespace {

constexpr std::size_t buffer_bytes = 4096;

/// Bytes of the frame that was allocated last.
std::size_t last_frame_bytes = 0;

/// An operation on a stream that never completes, kept where it is awaited.
struct stand_in_operation {
  std::span<std::byte> bytes;
  tartan::result<std::size_t> moved;
  alignas(8) std::array<std::byte, 64> completion;

  [[nodiscard]] bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<>) noexcept {}
  [[nodiscard]] tartan::result<std::size_t> await_resume() const noexcept { return moved; }
};

struct stand_in_stream {
  int descriptor = -1;
  [[nodiscard]] stand_in_operation read_some(std::span<std::byte> into) const { return {into, 0, {}}; }
  [[nodiscard]] stand_in_operation write(std::span<std::byte> from) const { return {from, 0, {}}; }
};

tartan::task<> echo(stand_in_stream peer) {
  std::array<std::byte, buffer_bytes> buffer;
  while (auto got = co_await peer.read_some(buffer)) {
    if (!co_await peer.write(std::span{buffer}.first(*got))) co_return;
  }
}

}  // namespace

// The linker puts the second before the first (--wrap): whatever a promise is, its frame comes from there.
void* allocate(std::size_t bytes) asm("__real__ZN6tartan6detail14allocate_frameEm");
void* allocate_and_tell(std::size_t bytes) asm("__wrap__ZN6tartan6detail14allocate_frameEm");
void* allocate_and_tell(std::size_t bytes) {
  last_frame_bytes = bytes;
  return allocate(bytes);
}

int main() {
  const tartan::task<> made = echo(stand_in_stream{});
  if (!made || last_frame_bytes <= buffer_bytes) return 1;
  std::printf("{\"question\": \"frame\", \"contender\": \"tartan_echo\", \"bytes\": %zu, \"buffer_bytes\": %zu}\n",
              last_frame_bytes, buffer_bytes);
  return 0;
}
