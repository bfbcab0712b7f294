#include "load/server_watch.h"

#include <tartan/core/await_blocking.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace load {

server_watch::server_watch(process_tree server) : server_{std::move(server)} {
  if (const pid_t gone = server_.missing(); gone != 0) throw std::runtime_error{"--server " + std::to_string(gone) + ": no such process"};
}

void server_watch::before_all() {
  if (!server_.empty()) seen_.before = server_.memory();
}

tartan::task<> server_watch::prepare() {
  if (!server_.empty()) before_ = co_await tartan::blocking([this] { return server_.look(); });
}

void server_watch::begin() {
  process_tree::add_times(before_);
  has_begun_ = !server_.empty();
}

void server_watch::stop() {
  after_ = {};
  after_.processes = before_.processes;
  process_tree::add_times(after_);
}

void server_watch::end() {
  if (!has_begun_) return;
  server_.add_others(after_);
  seen_.used = between(before_, after_);
  seen_.after = server_.memory();
}

}  // namespace load
