// Why a thread of a model test may not go on.
#pragma once

#include <string>

namespace tartan::model {

/// What a blocked thread waits for; asked again before every step of the others.
class gate {
 public:
  [[nodiscard]] virtual bool open() const = 0;
  /// For the report of a deadlock.
  [[nodiscard]] virtual std::string text() const = 0;
  /// True if the thread goes on by itself once nobody else can: its wait has a timeout.
  [[nodiscard]] virtual bool gives_up() const { return false; }

 protected:
  ~gate() = default;
};

}  // namespace tartan::model
