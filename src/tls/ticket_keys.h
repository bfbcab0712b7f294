#pragma once
/// The keys of the tickets by which TLS clients resume their sessions (RFC 5077; RFC 8446, 2.2).

#include <array>
#include <chrono>
#include <memory>

struct ssl_ctx_st;
struct ssl_st;

namespace tartan::tls::detail {

/// A key that seals tickets, and the one before it, which still opens them.
///
/// A ticket holds the secret of its session, so the key of recorded tickets opens the recorded conversations. Hence a
/// key lives for two rotations at most: each makes a new object, for the connections that come from then on, and the last
/// handshake that uses the old object destroys it.
/// Threads: any: an object never changes. Lifetime: its memory is cleansed.
class ticket_keys {
 public:
  /// Fresh keys: no ticket that there is can be opened.
  ///
  /// Errors: std::runtime_error if there are no random bytes.
  ticket_keys();
  ticket_keys(const ticket_keys&) = delete;
  ticket_keys& operator=(const ticket_keys&) = delete;
  ~ticket_keys();

  /// A rotation: a fresh key seals, the one that has sealed so far still opens. Errors: as of the constructor.
  [[nodiscard]] static std::shared_ptr<const ticket_keys> after(const ticket_keys& before);

  /// Has the connections of this context seal and open tickets by the keys that they are given; a ticket counts for so long.
  static void set_up(ssl_ctx_st& of, std::chrono::seconds life) noexcept;

  /// Gives a connection these keys; null takes them away, and then it neither seals nor opens tickets. Lifetime: longer
  /// than the handshake.
  ///
  /// Errors: std::bad_alloc.
  static void give(ssl_st& to, const ticket_keys* keys);

 private:
  struct key {
    std::array<unsigned char, 16> name;  ///< stands in front of the ticket
    std::array<unsigned char, 32> cipher;
    std::array<unsigned char, 32> mac;
  };
  struct calls;

  key seals_;
  key opens_;  ///< the one before
};

}  // namespace tartan::tls::detail
