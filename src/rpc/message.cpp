#include "rpc/message.h"

#include <tartan/xdr/decoder.h>
#include <tartan/xdr/encoder.h>

#include <utility>

namespace tartan::rpc {

namespace {

constexpr std::uint32_t type_call = 0;
constexpr std::uint32_t type_reply = 1;
constexpr std::uint32_t message_accepted = 0;
constexpr std::uint32_t message_denied = 1;

bool is_mismatch(const reply_header& head) noexcept {
  return head.accepted ? head.status == accept_status::program_mismatch : head.reject == reject_reason::rpc_mismatch;
}

std::size_t size_of(const opaque_auth& auth) noexcept {
  return 8 + xdr::detail::padded(auth.body.size());
}

bool get(xdr::decoder& in, opaque_auth& auth) {
  std::size_t size = 0;
  if (!in.word(auth.flavor) || !in.count(size, auth.body.max, 1)) return false;
  if (size == 0) return true;
  auth.body.resize(size);
  return in.opaque(std::span<std::byte>{auth.body});
}

bool get_versions(xdr::decoder& in, reply_header& head) {
  return in.word(head.low) && in.word(head.high);
}

bool get_accepted(xdr::decoder& in, reply_header& head) {
  std::uint32_t status = 0;
  if (!get(in, head.verifier) || !in.word(status)) return false;
  if (status > static_cast<std::uint32_t>(accept_status::system_error)) return false;
  head.status = static_cast<accept_status>(status);
  return head.status != accept_status::program_mismatch || get_versions(in, head);
}

bool get_rejected(xdr::decoder& in, reply_header& head) {
  head.accepted = false;
  std::uint32_t reason = 0;
  if (!in.word(reason) || reason > static_cast<std::uint32_t>(reject_reason::auth_error)) return false;
  head.reject = static_cast<reject_reason>(reason);
  if (head.reject == reject_reason::rpc_mismatch) return get_versions(in, head);
  std::uint32_t why = 0;
  if (!in.word(why)) return false;
  head.why = static_cast<auth_status>(static_cast<std::int32_t>(why));
  return true;
}

bool get(xdr::decoder& in, reply_header& head) {
  std::uint32_t kind = 0;
  if (!in.word(kind)) return false;
  if (kind == message_accepted) return get_accepted(in, head);
  return kind == message_denied && get_rejected(in, head);
}

bool get(xdr::decoder& in, call_header& head) {
  return in.word(head.program) && in.word(head.version) && in.word(head.procedure) && get(in, head.credentials) &&
         get(in, head.verifier);
}

}  // namespace

message_head read_head(std::span<const buf::slice> message) {
  xdr::decoder in{message};
  const std::size_t all = in.remaining();
  std::uint32_t xid = 0;
  std::uint32_t type = 0;
  if (!in.word(xid) || !in.word(type)) return {};
  if (type == type_reply) {
    reply_header head{.xid = xid};
    if (!get(in, head)) return {};
    return {std::move(head), all - in.remaining()};
  }
  std::uint32_t version = 0;
  if (type != type_call || !in.word(version)) return {};
  if (version != protocol_version) return {other_version{xid}, 0};
  call_header head{.xid = xid};
  if (!get(in, head)) return {};
  return {std::move(head), all - in.remaining()};
}

std::size_t size_of(const call_header& head) noexcept {
  return 24 + size_of(head.credentials) + size_of(head.verifier);
}

std::size_t size_of(const reply_header& head) noexcept {
  const std::size_t versions = is_mismatch(head) ? 8 : 0;
  if (head.accepted) return 16 + size_of(head.verifier) + versions;
  return 16 + (head.reject == reject_reason::auth_error ? 4 : versions);
}

void write(buf::chain& into, const call_header& head) {
  xdr::encoder out{into};
  for (const std::uint32_t each : {head.xid, type_call, protocol_version, head.program, head.version, head.procedure}) {
    out.word(each);
  }
  out.put(head.credentials);
  out.put(head.verifier);
  out.finish();
}

void write(buf::chain& into, const reply_header& head) {
  xdr::encoder out{into};
  out.word(head.xid);
  out.word(type_reply);
  out.word(head.accepted ? message_accepted : message_denied);
  if (head.accepted) {
    out.put(head.verifier);
    out.word(static_cast<std::uint32_t>(head.status));
  } else {
    out.word(static_cast<std::uint32_t>(head.reject));
    if (head.reject == reject_reason::auth_error) out.word(static_cast<std::uint32_t>(head.why));
  }
  if (is_mismatch(head)) {
    out.word(head.low);
    out.word(head.high);
  }
  out.finish();
}

}  // namespace tartan::rpc
