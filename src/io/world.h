#pragma once
/// Where a runtime's descriptors are: in the kernel, or in a simulation.

namespace tartan::detail {

class io_service;
class runtime_state;

/// Makes the runtime's service, over the sockets of its poller if that has some, else over the kernel's. If another thread was first,
/// gives what that has made.
///
/// Errors: std::system_error; ENOTSUP if the poller has no sockets and cannot wait for the kernel's.
[[nodiscard]] io_service& make_world(runtime_state& rt);

}  // namespace tartan::detail
