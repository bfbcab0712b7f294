#pragma once
/// What RPC messages begin with (RFC 5531, section 9). Arguments and results stand behind it.

#include <cstddef>
#include <cstdint>
#include <span>
#include <tartan/buf/chain.h>
#include <tartan/buf/slice.h>
#include <tartan/rpc/accept_status.h>
#include <tartan/rpc/auth.h>
#include <variant>

namespace tartan::rpc {

/// Of the RPC protocol.
inline constexpr std::uint32_t protocol_version = 2;

struct call_header {
  std::uint32_t xid = 0;
  std::uint32_t program = 0;
  std::uint32_t version = 0;
  std::uint32_t procedure = 0;
  opaque_auth credentials{};
  opaque_auth verifier{};

  bool operator==(const call_header&) const = default;
};

enum class reject_reason : std::uint32_t { rpc_mismatch = 0, auth_error = 1 };

struct reply_header {
  std::uint32_t xid = 0;
  bool accepted = true;

  // Of an accepted call.
  accept_status status = accept_status::success;
  opaque_auth verifier{};

  // Of a rejected call.
  reject_reason reject = reject_reason::rpc_mismatch;
  auth_status why = auth_status::ok;  ///< of auth_error; may be a number without a name

  // The versions that the server has, of program_mismatch and rpc_mismatch.
  std::uint32_t low = 0;
  std::uint32_t high = 0;

  bool operator==(const reply_header&) const = default;
};

/// A call in another version of the RPC protocol, of which no more than this is known. It is answered with rpc_mismatch.
struct other_version {
  std::uint32_t xid = 0;
  bool operator==(const other_version&) const = default;
};

struct malformed {
  bool operator==(const malformed&) const = default;
};

struct message_head {
  std::variant<malformed, call_header, reply_header, other_version> what;
  std::size_t bytes =
      0;  ///< that the head takes; the arguments or results are behind. 0 unless it is a call or a reply
};

/// Errors: std::bad_alloc.
/// Cost: no allocation if credentials and verifier are empty; else one for each.
[[nodiscard]] message_head read_head(std::span<const buf::slice> message);

/// The bytes that write() appends.
[[nodiscard]] std::size_t size_of(const call_header& head) noexcept;
[[nodiscard]] std::size_t size_of(const reply_header& head) noexcept;

/// Precondition: credentials and verifier have at most 400 bytes each; nothing checks it.
/// Errors: std::bad_alloc.
void write(buf::chain& into, const call_header& head);
/// Writes the parts that belong to the kind of reply. Precondition and errors as above.
void write(buf::chain& into, const reply_header& head);

}  // namespace tartan::rpc
