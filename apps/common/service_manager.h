#pragma once
/// What a service manager, such as systemd, and a program have to tell each other.

#include <string>
#include <string_view>
#include <vector>

namespace tartan::apps {

/// A socket that the manager has opened.
struct passed_socket {
  int descriptor = -1;
  std::string name;  ///< FileDescriptorName= in the unit; empty: none

  [[nodiscard]] bool operator==(const passed_socket&) const = default;
};

/// The sockets that the manager has opened for this process, in its order (LISTEN_FDS, LISTEN_PID and LISTEN_FDNAMES, as
/// in sd_listen_fds). None if there is no manager, or it has opened none. No child inherits them; a second call gives
/// none.
///
/// Threads: the first, before others read or change the environment.
/// Errors: std::invalid_argument if LISTEN_FDS is not a number of open descriptors.
[[nodiscard]] std::vector<passed_socket> passed_sockets();

/// Tells the manager a state, such as "READY=1" (NOTIFY_SOCKET, as in sd_notify). Does nothing if there is no manager, or
/// it does not listen.
///
/// Threads: any.
void notify_manager(std::string_view state) noexcept;

}  // namespace tartan::apps
