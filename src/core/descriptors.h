#pragma once
/// What a runtime's life needs to know of its open descriptors; the module `io` implements it and plugs it in on first use.

#include <cstddef>

namespace tartan::detail {

/// All open descriptors of a runtime, and the operations that wait on them.
class descriptors {
 public:
  descriptors() = default;
  descriptors(const descriptors&) = delete;
  descriptors& operator=(const descriptors&) = delete;
  virtual ~descriptors() = default;

  /// After stop, all workers pause, and foreign threads open nothing: what waits will complete as canceled, in its color; listeners close.
  virtual void stop() noexcept = 0;

  /// The shutdown has begun, all workers pause, and foreign threads open no listener: listeners will close, in their colors, and what
  /// waits for new work will complete as canceled.
  virtual void shut_doors() noexcept = 0;

  /// No worker runs: forgets every operation that waits, without completing it. Gives how many callbacks were destroyed.
  virtual std::size_t drop_all() noexcept = 0;
};

}  // namespace tartan::detail
