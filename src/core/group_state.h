#pragma once
/// What a task group and its coroutines share.

#include <exception>
#include <source_location>
#include <tartan/core/chain.h>

#include "core/root_list.h"

namespace tartan::detail {

/// Threads: any. Lifetime: its group's, which is joined before it ends.
class group_state {
 public:
  group_state(runtime_state& rt, std::source_location site) noexcept;
  group_state(const group_state&) = delete;
  group_state& operator=(const group_state&) = delete;
  ~group_state();

  void add(root& r) noexcept;
  /// It was never started.
  void take_back(root& r) noexcept;
  /// It has ended and is gone but for its record.
  void ended(root& r) noexcept;

  /// The group goes before its members, because the runtime does.
  void abandon() noexcept;

  void cancel() noexcept { members_.cancel_all(); }

  /// True: nobody is left. False: `joiner` will be completed.
  [[nodiscard]] bool join(chain& joiner) noexcept;
  [[nodiscard]] std::exception_ptr take_first() noexcept;
  [[nodiscard]] std::size_t size() noexcept;

  [[nodiscard]] runtime_state& runtime() const noexcept { return rt_; }
  [[nodiscard]] std::source_location site() const noexcept { return site_; }

 private:
  runtime_state& rt_;
  std::source_location site_;
  root_list members_;
  chain* joiner_ = nullptr;    ///< under the list's lock
  std::exception_ptr first_;   ///< under the list's lock
};

}  // namespace tartan::detail
