#pragma once
/// A certificate for tests and for trying things out.

#include <string>
#include <tartan/tls/server.h>
#include <vector>

namespace tartan::tls {

/// Makes a key (ECDSA, P-256) and a certificate for it, signed by itself, in the files `self-signed.pem` and `self-signed.key` of a folder; only the
/// owner may read the key. Nobody trusts it but a client whose client_settings::authorities names the certificate.
///
/// `names`: of hosts, or IP addresses; the first is the subject. It is valid for `days` days, from a day ago on.
/// Errors: std::invalid_argument without a name; std::runtime_error, with the file.
/// Cost: a millisecond, and two files. Blocks as long as the disk takes.
[[nodiscard]] identity self_signed(const std::string& folder, const std::vector<std::string>& names, int days = 30);

}  // namespace tartan::tls
