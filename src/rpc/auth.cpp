#include <tartan/rpc/auth.h>

#include <tartan/buf/chain.h>
#include <tartan/rpc/error.h>
#include <tartan/xdr/codec.h>

#include <span>

namespace tartan::rpc {

opaque_auth to_auth(const sys_credentials& of) {
  sys_credentials sent = of;
  if (sent.machine.size() > sent.machine.max) sent.machine.resize(sent.machine.max);
  if (sent.groups.size() > sent.groups.max) sent.groups.resize(sent.groups.max);
  buf::chain encoded;
  xdr::encode(encoded, sent).value();  // all bounds are kept
  opaque_auth made{.flavor = auth_flavor::sys};
  made.body.resize(encoded.size());
  encoded.copy_to(std::span<std::byte>{made.body});
  return made;
}

result<sys_credentials> sys_credentials_of(const opaque_auth& from) {
  if (from.flavor != auth_flavor::sys) return make_error_code(errc::authentication);
  return xdr::decode<sys_credentials>(std::span<const std::byte>{from.body});
}

}  // namespace tartan::rpc
