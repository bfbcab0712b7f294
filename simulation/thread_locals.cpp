#include "simulation/thread_locals.h"

#include <link.h>

#include <cstring>

namespace simulation {

namespace {

/// Where the linker has put them: on x86-64 the program's own lie right below the thread's pointer.
struct place {
  std::byte* first = nullptr;
  std::size_t bytes = 0;
  const std::byte* initial = nullptr;
  std::size_t initial_bytes = 0;

  place() {
    ::dl_iterate_phdr(
        [](dl_phdr_info* program, std::size_t, void* into) {
          for (int n = 0; n < program->dlpi_phnum; ++n) {
            if (program->dlpi_phdr[n].p_type == PT_TLS) static_cast<place*>(into)->set(*program, program->dlpi_phdr[n]);
          }
          return 1;  // the first one is the program itself
        },
        this);
  }
  void set(const dl_phdr_info& program, const ElfW(Phdr) & segment) {
    const std::size_t room = (segment.p_memsz + segment.p_align - 1) / segment.p_align * segment.p_align;
    first = static_cast<std::byte*>(__builtin_thread_pointer()) - room;
    bytes = segment.p_memsz;
    initial = reinterpret_cast<const std::byte*>(program.dlpi_addr + segment.p_vaddr);
    initial_bytes = segment.p_filesz;
  }
};

const place& here() {
  static const place found;
  return found;
}

}  // namespace

thread_locals::thread_locals() : values_(here().bytes) { reset(); }

void thread_locals::reset() noexcept {
  std::memset(values_.data(), 0, values_.size());
  std::memcpy(values_.data(), here().initial, here().initial_bytes);
}

void thread_locals::save() noexcept { std::memcpy(values_.data(), here().first, values_.size()); }
void thread_locals::restore() const noexcept { std::memcpy(here().first, values_.data(), values_.size()); }

}  // namespace simulation
