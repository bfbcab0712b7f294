#pragma once
/// What a service manager, such as systemd, and a server have to tell each other; and whose rights the server has.

#include <string>
#include <string_view>
#include <vector>

namespace web {

/// A socket that somebody else has opened.
struct passed_socket {
  int descriptor = -1;
  std::string name;  ///< "https": for TLS

  [[nodiscard]] bool operator==(const passed_socket&) const = default;
};

/// Those that the manager has opened for this process, in its order (LISTEN_FDS, LISTEN_PID and LISTEN_FDNAMES, as in sd_listen_fds); none, if there is no
/// manager, or it has opened none. No child will have them; a second call gives none.
///
/// Errors: std::invalid_argument for a LISTEN_FDS that is no number of open descriptors.
[[nodiscard]] std::vector<passed_socket> passed_sockets();

/// Tells the manager, as "READY=1" (NOTIFY_SOCKET, as in sd_notify); nothing where there is none, or it does not listen.
void notify_manager(std::string_view state) noexcept;

/// Errors: std::invalid_argument if there is no such user; std::system_error if that cannot be found out.
void look_up(const std::string& user);

/// Takes the user's rights, and those of its groups, for good. Call it before anything of a client is read.
///
/// Threads: all get them.
/// Errors: std::invalid_argument if there is no such user; std::system_error.
void become(const std::string& user);

}  // namespace web
