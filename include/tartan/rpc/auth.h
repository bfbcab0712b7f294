#pragma once
/// The credentials of a call (RFC 5531, sections 8 to 10 and appendix A).

#include <concepts>
#include <cstdint>
#include <tartan/core/result.h>
#include <tartan/xdr/list.h>
#include <tartan/xdr/text.h>
#include <type_traits>

namespace tartan::rpc {

/// Numbers for opaque_auth::flavor. IANA registers more.
namespace auth_flavor {
inline constexpr std::uint32_t none = 0;        ///< nobody
inline constexpr std::uint32_t sys = 1;         ///< a Unix user, as the client claims it: sys_credentials
inline constexpr std::uint32_t short_form = 2;  ///< what the server gave the client to send in place of `sys`
inline constexpr std::uint32_t tls = 7;         ///< asks for TLS on this connection (RFC 9289)
}  // namespace auth_flavor

/// A credential or a verifier: a flavor, and bytes that only the flavor explains.
struct opaque_auth {
  std::uint32_t flavor = auth_flavor::none;
  xdr::bytes<400> body{};

  bool operator==(const opaque_auth&) const = default;
};

template <class Archive, class Value>
  requires std::same_as<std::remove_const_t<Value>, opaque_auth>
bool xdr_traverse(Archive& a, Value& x) {
  return a("flavor", x.flavor) && a("body", x.body);
}

/// Why a server refuses a call's credentials. IANA registers more numbers than those named here.
enum class auth_status : std::int32_t {
  ok = 0,
  bad_credentials = 1,       ///< the credential's body is broken
  rejected_credentials = 2,  ///< the client must begin a new session
  bad_verifier = 3,          ///< the verifier's body is broken
  rejected_verifier = 4,     ///< the verifier has expired or was used before
  too_weak = 5,              ///< the procedure wants a stronger flavor
  invalid_response = 6,      ///< the client rejects the verifier of the reply
  failed = 7,                ///< any other reason
};
constexpr const char* xdr_name(auth_status value) noexcept {
  switch (value) {
    case auth_status::ok:
      return "ok";
    case auth_status::bad_credentials:
      return "bad_credentials";
    case auth_status::rejected_credentials:
      return "rejected_credentials";
    case auth_status::bad_verifier:
      return "bad_verifier";
    case auth_status::rejected_verifier:
      return "rejected_verifier";
    case auth_status::too_weak:
      return "too_weak";
    case auth_status::invalid_response:
      return "invalid_response";
    case auth_status::failed:
      return "failed";
  }
  return nullptr;
}

/// AUTH_SYS: a user of a Unix machine. Nothing proves it: a server believes it only of peers that it trusts otherwise.
struct sys_credentials {
  std::uint32_t stamp = 0;   ///< any number of the client's choice
  xdr::text<255> machine{};  ///< the client's name
  std::uint32_t user = 0;
  std::uint32_t group = 0;
  xdr::list<std::uint32_t, 16> groups{};

  bool operator==(const sys_credentials&) const = default;
};

template <class Archive, class Value>
  requires std::same_as<std::remove_const_t<Value>, sys_credentials>
bool xdr_traverse(Archive& a, Value& x) {
  return a("stamp", x.stamp) && a("machine", x.machine) && a("user", x.user) && a("group", x.group) &&
         a("groups", x.groups);
}

/// The credential to send. The protocol carries 16 groups and 255 bytes of the machine's name: more is cut off.
///
/// Errors: std::bad_alloc.
[[nodiscard]] opaque_auth to_auth(const sys_credentials& of);

/// The user that a credential names.
///
/// Errors: errc::authentication if the flavor is not auth_flavor::sys; of xdr::errc if the body is broken. std::bad_alloc.
[[nodiscard]] result<sys_credentials> sys_credentials_of(const opaque_auth& from);

}  // namespace tartan::rpc
