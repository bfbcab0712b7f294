#define OPENSSL_SUPPRESS_DEPRECATED  // RAND_METHOD; what has replaced it, a provider, cannot be told apart by thread
#include "tls/chance.h"

#include <openssl/rand.h>
#include <tartan/core/event.h>

#include <cstddef>
#include <span>

#include "core/runtime_state.h"
#include "core/sleep/poller.h"

namespace tartan::tls::detail {

namespace {

/// Null: the bytes are OpenSSL's own.
tartan::detail::poller* chance_here() noexcept {
  if (tartan::detail::here == nullptr) return nullptr;
  tartan::detail::poller& clock = tartan::detail::here->owner->clock();
  return clock.has_chance() ? &clock : nullptr;
}

int draw(unsigned char* into, int bytes) noexcept {
  tartan::detail::poller* const clock = chance_here();
  if (clock == nullptr) return RAND_OpenSSL()->bytes(into, bytes);
  clock->draw(std::as_writable_bytes(std::span{into, static_cast<std::size_t>(bytes)}));
  return 1;
}

int seed(const void* from, int bytes) noexcept { return RAND_OpenSSL()->seed(from, bytes); }
int add(const void* from, int bytes, double entropy) noexcept { return RAND_OpenSSL()->add(from, bytes, entropy); }
int status() noexcept { return RAND_OpenSSL()->status(); }

}  // namespace

void follow_simulation() noexcept {
  if (chance_here() == nullptr) return;
  static const RAND_METHOD ours{&seed, &draw, nullptr, &add, &draw, &status};
  static const bool is_set = RAND_set_rand_method(&ours) == 1;
  static_cast<void>(is_set);
}

}  // namespace tartan::tls::detail
