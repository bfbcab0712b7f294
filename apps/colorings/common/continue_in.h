#pragma once
/// From one step of a server to the next, in another color.

#include <tartan/core/post.h>

#include <source_location>
#include <utility>

#include "colorings/common/client.h"

namespace colorings {

/// Calls a step with a client, later, in a color. A client is given away only when the color has been read.
template <class Server>
void continue_in(tartan::color where, Server& of, void (Server::*step)(owned_client), owned_client&& with,
                 std::source_location site = std::source_location::current()) {
  tartan::post(where, [&of, step, c = std::move(with)]() mutable { (of.*step)(std::move(c)); }, site);
}

}  // namespace colorings
