// Destroys twice what a coroutine holds, as gcc 12 does where it miscompiles one. Its test passes if AddressSanitizer
// reports that: without the report the programs beside it would prove nothing.
#include <tartan/tartan.h>

#include <cstddef>
#include <memory>
#include <string>

namespace {

tartan::task<> measure(std::size_t& size) {
  constexpr std::size_t beyond_what_a_string_holds_itself = 60;
  std::string text(beyond_what_a_string_holds_itself, 'x');
  co_await tartan::yield();
  size = text.size();
  std::destroy_at(&text);
}

}  // namespace

int main() {
  std::size_t size = 0;
  tartan::runtime rt;
  rt.spawn([&]() -> tartan::task<> { co_await measure(size); }).detach();
  rt.run_until_idle();
  return size == 0 ? 1 : 0;
}
