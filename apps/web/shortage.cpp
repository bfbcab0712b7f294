#include "web/shortage.h"

#include <sys/resource.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>

namespace web {

namespace {

constexpr std::chrono::nanoseconds between_lines = std::chrono::seconds{10};

/// Null: it is no shortage.
const char* name_of(int error) noexcept {
  switch (error) {
    case EMFILE: return "EMFILE";
    case ENFILE: return "ENFILE";
    case ENOMEM: return "ENOMEM";
    case ENOBUFS: return "ENOBUFS";
    default: return nullptr;
  }
}

const char* remedy_of(int error) noexcept {
  switch (error) {
    case EMFILE: return "raise LimitNOFILE= or ulimit -n, or lower --max-connections";
    case ENFILE: return "raise the system's limit, sysctl fs.file-max";
    default: return "lower --max-connections or --cache-bytes, or give the system more memory";
  }
}

}  // namespace

void shortage::tell(const char* what, int error) noexcept {
  const char* const name = name_of(error);
  if (name == nullptr) return;
  untold_.fetch_add(1, std::memory_order_relaxed);
  const std::int64_t now = std::chrono::nanoseconds{rt_.now().time_since_epoch()}.count();
  std::int64_t next = next_.load(std::memory_order_relaxed);
  // Of several threads one says it.
  if (now < next) return;
  if (!next_.compare_exchange_strong(next, now + between_lines.count(), std::memory_order_relaxed)) return;
  rlimit limit{};
  static_cast<void>(::getrlimit(RLIMIT_NOFILE, &limit));
  const std::size_t times = untold_.exchange(0, std::memory_order_relaxed);
  constexpr const char* text =
      "tartan-web: cannot %s: %s (%s, %zu times since the last such line; this process may open %llu files): %s\n";
  std::fprintf(stderr, text, what, std::strerror(error), name, times, static_cast<unsigned long long>(limit.rlim_cur),
               remedy_of(error));
}

}  // namespace web
