#pragma once
/// Where OpenSSL's random bytes come from.

namespace tartan::tls::detail {

/// From now on, what OpenSSL draws on a worker of a simulated runtime comes from that simulation's seed. All else comes from OpenSSL as before.
/// Does nothing outside of a simulation: a program that has none keeps OpenSSL as it was.
///
/// Threads: any.
void follow_simulation() noexcept;

}  // namespace tartan::tls::detail
