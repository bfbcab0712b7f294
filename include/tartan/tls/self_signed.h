#pragma once
/// A certificate for tests and for trying things out.

#include <string>
#include <tartan/tls/server.h>
#include <vector>

namespace tartan::tls {

/// Makes a key (ECDSA, P-256) and a self-signed certificate, in the files `self-signed.key` and `self-signed.pem` of a folder. Only the owner can read the
/// key. Only a client whose client_settings::authorities names the certificate trusts it.
///
/// `names`: host names or IP addresses; the first is the subject. The certificate is valid for `days` days, starting a day ago.
/// Errors: std::invalid_argument without a name; std::runtime_error, with the file.
/// Cost: a millisecond, and two files, written on the calling thread.
[[nodiscard]] identity self_signed(const std::string& folder, const std::vector<std::string>& names, int days = 30);

}  // namespace tartan::tls
