#pragma once
/// All descriptors of a runtime.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <system_error>
#include <tartan/core/color.h>
#include <tartan/core/result.h>
#include <tartan/core/strand.h>
#include <tartan/io/wait.h>
#include <vector>

#include "core/descriptors.h"
#include "core/memory.h"
#include "io/shared_files.h"
#include "io/slot.h"
#include "io/system.h"

namespace tartan::detail {

class runtime_state;

/// Opens, closes and finds slots; told of edges by the system.
///
/// Limits: 2^20 descriptors.
class io_service final : public readiness_ledger, public descriptors {
 public:
  /// The runtime's; made, with the epoll poller or the simulated one, when it is first asked for.
  ///
  /// Errors: std::system_error.
  [[nodiscard]] static io_service& of(runtime_state& rt);
  /// The same, with what it would throw as an error.
  [[nodiscard]] static result<io_service*> find(runtime_state& rt) noexcept;

  /// `owned`: the system, if it is this service's own. It reports to nobody until it is told to.
  io_service(runtime_state& rt, io_system& system, std::unique_ptr<io_system> owned = nullptr);
  ~io_service() override;

  [[nodiscard]] runtime_state& runtime() const noexcept { return rt_; }
  [[nodiscard]] io_system& system() const noexcept { return system_; }

  /// Since when its edges come. From the first wait: what is done without one costs no call to begin them and none to end them; but if they cannot be
  /// had, that operation ends with the error.
  enum class watched : std::uint8_t { at_once, from_first_wait };

  /// Takes a descriptor over, which must not block, into a color; `own`: that color's strand, which ends with it. On error it is
  /// still the caller's. After stop: errc::canceled on foreign threads. For what closes at the end: errc::canceled after stop and shutdown.
  [[nodiscard]] result<slot_key> open(int descriptor, color where, std::optional<strand> own, std::unique_ptr<slot_extra> more = nullptr,
                                      slot_manner how = {}, watched from = watched::at_once) noexcept;

  /// Makes a descriptor non-blocking before it is opened. Gives slot_manner::was_blocking as 0 or 1, or -errno.
  [[nodiscard]] int unblock(int descriptor) noexcept { return files_.take(descriptor); }
  /// Undoes unblock() if open() failed.
  void block_again(int descriptor) noexcept { files_.leave(descriptor); }

  /// The caller holds the slot's key and gives it up. Color: the slot's.
  void close(io_slot& slot) noexcept;
  /// Gives the descriptor to the caller instead of closing it.
  [[nodiscard]] int release(io_slot& slot) noexcept;
  /// Closes the descriptor of an object that keeps its slot until it is closed or destroyed.
  void shut_down(io_slot& slot) noexcept;
  /// From wherever the object is destroyed: closes here if this is the slot's color or nothing runs, else by an event of that color.
  void abandon(slot_key key) noexcept;

  /// A listener that found no descriptors or no memory is tried again when a descriptor is closed.
  void retry_after_close(slot_key key) noexcept;

  /// What the system is told to name the slot by, as it is open now.
  [[nodiscard]] static std::uint64_t mark_of(const io_slot& slot) noexcept {
    return (std::uint64_t{slot.generation()} << 32) | slot.index();
  }

  /// A closed slot whose event is not on its way.
  void recycle(io_slot& slot) noexcept;


  bool ready(std::uint64_t mark, std::uint32_t bits) noexcept override;
  void stop() noexcept override;
  void shut_doors() noexcept override;
  std::size_t drop_all() noexcept override;

 private:
  static constexpr unsigned slots_in_chunk = 256;
  static constexpr unsigned most_chunks = 4096;

  struct chunk;
  [[nodiscard]] io_slot* slot_at(std::uint32_t index) const noexcept;
  [[nodiscard]] io_slot* take_slot() noexcept;
  class closing;
  /// Nobody holds its key any more; it may be open or closed.
  void let_go(io_slot& slot) noexcept;
  void expect_no_objects() noexcept;
  [[nodiscard]] bool add_chunk() noexcept;
  void retry_starved() noexcept;

  runtime_state& rt_;
  std::unique_ptr<io_system> owned_;
  io_system& system_;
  shared_files files_{system_};
  std::mutex lock_;  ///< guards the next four
  io_slot* free_ = nullptr;
  std::vector<slot_key> starved_;
  unsigned chunks_made_ = 0;
  /// Release by add_chunk; pairs with slot_at.
  std::unique_ptr<real_memory::atomic<chunk*>[]> chunks_;
  real_memory::atomic<bool> any_starved_{false};  ///< a hint: relaxed
};

/// Ends the program unless the running event has the slot's color; outside of events, while nothing runs, everything is allowed.
void require_color(const io_slot& slot, std::source_location site) noexcept;
[[noreturn]] void outside_of_events(std::source_location site) noexcept;
[[noreturn]] void wrong_color(const io_slot& slot, color caller, std::source_location site) noexcept;

}  // namespace tartan::detail
