#pragma once
/// The user whose rights a program has.

#include <string>

namespace tartan::apps {

/// Whether there is such a user.
///
/// Errors: std::invalid_argument if there is none; std::system_error if that cannot be found out.
void check_user(const std::string& user);

/// Takes the rights of the user and of its groups, for good. Call it before anything of a client is read.
///
/// Threads: all get them (the C library tells each).
/// Errors: std::invalid_argument if there is no such user; std::system_error, of which some rights may be taken already:
/// end the program.
void become(const std::string& user);

}  // namespace tartan::apps
