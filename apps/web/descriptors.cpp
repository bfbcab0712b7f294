#include "web/descriptors.h"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "web/page_body.h"

namespace web {

namespace {

constexpr std::size_t of_the_runtime = 16;  // epoll, eventfds, signalfd, the log, twice while it is reopened, and room
constexpr std::size_t least_left = 8;       // to answer anybody at all

}  // namespace

descriptor_share share_of_descriptors(const settings& with, std::size_t limit, std::size_t open_before) {
  const std::size_t listeners = with.listen.size() + with.listen_tls.size();
  const std::size_t pages = std::min<std::size_t>(page_body::most_files, limit / 16);
  const std::size_t needed = open_before + 2 * with.hosts.size() + listeners + of_the_runtime + pages;
  if (needed + least_left > limit) {
    const std::string wanted = std::to_string(with.hosts.size()) + " hosts need " + std::to_string(needed + least_left);
    const std::string there = " descriptors, and this process may open " + std::to_string(limit);
    throw std::runtime_error{wanted + there + ": raise LimitNOFILE= or ulimit -n"};
  }
  const std::size_t rest = limit - needed;
  return {std::min(with.max_connections, rest - rest / 4), std::min(with.pages.open_files, rest / 16)};
}

}  // namespace web
