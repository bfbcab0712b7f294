// What libFuzzer calls: one program for each target.
#include <cstddef>
#include <cstdint>

#include "fuzz_target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tartan::http::fuzz::TARTAN_FUZZ_TARGET({reinterpret_cast<const char*>(data), size});
  return 0;
}
