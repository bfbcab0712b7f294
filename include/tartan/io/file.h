#pragma once
/// Regular files.

#include <cstddef>
#include <cstdint>
#include <source_location>
#include <string>
#include <tartan/buf/bytes.h>
#include <tartan/core/result.h>
#include <tartan/io/file_operation.h>
#include <utility>

namespace tartan {

/// How to open a file; combined with |.
enum class file_flags : unsigned {
  read = 1,
  write = 2,
  create = 4,      ///< if it does not exist
  exclusive = 8,   ///< with create: an error if it does
  truncate = 16,   ///< to nothing
  append = 32,     ///< writes go to the end, whatever offset they name
};
[[nodiscard]] constexpr file_flags operator|(file_flags a, file_flags b) noexcept {
  return static_cast<file_flags>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}

/// An open file.
///
/// Each operation comes in two forms: awaited, and with a callback that takes the same result, called later, never inside the call.
/// What is in the system's cache is read at once; all else is done off the workers, as by blocking().
/// Color: none. An operation may begin in any color and ends there; several may run at a time, for each names its offset.
/// Threads: moved, closed and destroyed by one at a time, while nobody begins an operation.
/// Lifetime: what is read into or written from must live until the operation has ended. Closing or destroying the file leaves the
/// operations that have begun alone: the last of them closes the descriptor.
/// Errors: errc::closed; what the system says. What is done off the workers cannot be cut short: a timeout waits for its end, and a
/// coroutine of a program that stops can still save what it has. A callback's gets errc::busy if options.blocking_queue jobs wait
/// already, and errc::canceled after stop, if it cannot be done at once.
/// Cost: one system call and no allocation if at once, for a coroutine; else two hops between threads.
class file {
 public:
  /// Closed.
  file() noexcept = default;

  /// `auto opened = co_await file::open(path)`. `permissions` apply to a file that this call creates, less the umask.
  ///
  /// Opening never waits for another process: anything but a regular file is opened with O_NONBLOCK and keeps it. A
  /// FIFO opens for reading at once, and for writing if it has a reader. It has no offsets, so read_at and write_at
  /// give std::errc::invalid_seek; `pipe::read_end::from_fd(*opened->release(), c)` makes a stream of it.
  /// Errors: what the system says. std::errc::no_such_device_or_address: a FIFO to write to that has no reader.
  /// Limits: a file system that hangs, such as a hard NFS mount whose server is gone, still holds a blocking thread,
  /// and the end of the run waits for that thread (see runtime::drain).
  [[nodiscard]] static auto open(std::string path, file_flags how = file_flags::read, unsigned permissions = 0666) noexcept {
    return detail::file_awaitable<detail::file_open>{std::in_place, std::move(path), native(how), permissions};
  }
  template <detail::file_completion<detail::file_open> F>
  static void open(std::string path, file_flags how, unsigned permissions, F&& f,
                   std::source_location site = std::source_location::current()) {
    detail::start_file<detail::file_open>(std::forward<F>(f), site, std::move(path), native(how), permissions);
  }
  template <detail::file_completion<detail::file_open> F>
  static void open(std::string path, file_flags how, F&& f, std::source_location site = std::source_location::current()) {
    open(std::move(path), how, 0666, std::forward<F>(f), site);
  }

  /// Takes a descriptor over, however it was opened. Errors: std::bad_alloc; then it is still the caller's.
  [[nodiscard]] static file from_fd(int descriptor) { return file{std::make_shared<detail::file_descriptor>(descriptor)}; }

  /// Reads until the buffer is full or the file ends; gives how much that was: 0 at the end.
  [[nodiscard]] auto read_at(std::uint64_t offset, mutable_bytes into) const noexcept {
    return detail::file_awaitable<transfer>{std::in_place, descriptor_, transfer::kind::read, offset, into.data(), into.size()};
  }
  template <detail::file_completion<detail::file_transfer> F>
  void read_at(std::uint64_t offset, mutable_bytes into, F&& f,
               std::source_location site = std::source_location::current()) const {
    detail::start_file<transfer>(std::forward<F>(f), site, descriptor_, transfer::kind::read, offset, into.data(), into.size());
  }

  /// Writes all of it; gives how much that was.
  [[nodiscard]] auto write_at(std::uint64_t offset, const_bytes all) const noexcept {
    return detail::file_awaitable<transfer>{std::in_place, descriptor_, transfer::kind::write, offset, bytes_of(all), all.size()};
  }
  template <detail::file_completion<detail::file_transfer> F>
  void write_at(std::uint64_t offset, const_bytes all, F&& f,
                std::source_location site = std::source_location::current()) const {
    detail::start_file<transfer>(std::forward<F>(f), site, descriptor_, transfer::kind::write, offset, bytes_of(all), all.size());
  }

  /// Writes all bytes at the end of the file and gives their number. file_flags::append is not needed.
  ///
  /// Order: concurrent appends never overwrite each other. The system may split a very long one (2 GiB, or a full
  /// disk); then another append can come between its parts.
  [[nodiscard]] auto append(const_bytes all) const noexcept {
    return detail::file_awaitable<transfer>{std::in_place,    descriptor_,   transfer::kind::append,
                                            std::uint64_t{0}, bytes_of(all), all.size()};
  }
  template <detail::file_completion<detail::file_transfer> F>
  void append(const_bytes all, F&& f, std::source_location site = std::source_location::current()) const {
    detail::start_file<transfer>(std::forward<F>(f), site, descriptor_, transfer::kind::append, std::uint64_t{0},
                                 bytes_of(all), all.size());
  }

  /// How long it is, in bytes.
  [[nodiscard]] auto size() const noexcept { return detail::file_awaitable<detail::file_size>{std::in_place, descriptor_}; }
  template <detail::file_completion<detail::file_size> F>
  void size(F&& f, std::source_location site = std::source_location::current()) const {
    detail::start_file<detail::file_size>(std::forward<F>(f), site, descriptor_);
  }

  /// Waits until what was written is on the disk; sync_data leaves out what is not needed to read it again, as times.
  [[nodiscard]] auto sync() const noexcept { return detail::file_awaitable<detail::file_sync>{std::in_place, descriptor_, false}; }
  [[nodiscard]] auto sync_data() const noexcept { return detail::file_awaitable<detail::file_sync>{std::in_place, descriptor_, true}; }
  template <detail::file_completion<detail::file_sync> F>
  void sync(F&& f, std::source_location site = std::source_location::current()) const {
    detail::start_file<detail::file_sync>(std::forward<F>(f), site, descriptor_, false);
  }
  template <detail::file_completion<detail::file_sync> F>
  void sync_data(F&& f, std::source_location site = std::source_location::current()) const {
    detail::start_file<detail::file_sync>(std::forward<F>(f), site, descriptor_, true);
  }

  /// Closes: the file at this call, its descriptor off the workers, so that a slow system keeps none of them waiting. Destroying a
  /// file closes it where that happens.
  ///
  /// Errors: what was written before and went wrong since; not told while other operations run, nor by the destructor.
  [[nodiscard]] auto close() noexcept { return detail::file_awaitable<detail::file_close>{std::in_place, std::move(descriptor_)}; }
  template <detail::file_completion<detail::file_close> F>
  void close(F&& f, std::source_location site = std::source_location::current()) {
    detail::start_file<detail::file_close>(std::forward<F>(f), site, std::move(descriptor_));
  }

  /// Gives the descriptor away; the file is closed then.
  ///
  /// Errors: errc::closed; errc::busy while an operation runs, which needs it: then the file still has it.
  [[nodiscard]] result<int> release() noexcept;

  [[nodiscard]] bool is_open() const noexcept { return descriptor_ != nullptr; }
  /// The descriptor, for send_file and system calls that this library does not know; -1 if closed. It stays this file's.
  [[nodiscard]] int native_handle() const noexcept { return descriptor_ != nullptr ? descriptor_->get() : -1; }

 private:
  using transfer = detail::file_transfer;
  friend class detail::file_open;
  explicit file(detail::shared_descriptor descriptor) noexcept : descriptor_{std::move(descriptor)} {}
  [[nodiscard]] static int native(file_flags how) noexcept;
  /// One type for both ways; only read.
  [[nodiscard]] static std::byte* bytes_of(const_bytes all) noexcept { return const_cast<std::byte*>(all.data()); }

  detail::shared_descriptor descriptor_;
};

}  // namespace tartan
