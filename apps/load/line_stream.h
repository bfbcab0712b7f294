#pragma once
/// What a master and its injectors say to each other.

#include <tartan/core/task.h>
#include <tartan/io/tcp.h>

#include <string>
#include <utility>

#include "load/json.h"

namespace load {

/// Objects, one on each line.
///
/// Color: the stream's.
class line_stream {
 public:
  explicit line_stream(tartan::tcp::stream peer) : peer_{std::move(peer)} {}

  /// Errors: std::runtime_error if the other one is gone, or says what is no such object.
  tartan::task<> send(json_object what) { return send_line(what.text()); }
  tartan::task<> send_line(std::string line);
  tartan::task<std::string> receive_line();
  tartan::task<flat_json> receive();

  /// Receives what says this step and nothing else. Errors: as receive.
  tartan::task<> expect(std::string step);

  tartan::task<> send_step(std::string step);

 private:
  tartan::tcp::stream peer_;
  std::string in_;
};

}  // namespace load
