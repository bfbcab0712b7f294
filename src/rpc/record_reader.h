#pragma once
/// Record marking: messages on a stream (RFC 5531, section 11).

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <system_error>
#include <tartan/buf/chain.h>
#include <tartan/core/result.h>

namespace tartan::rpc {

/// Cuts a stream into records, without a copy: a record refers to the memory that was read to.
///
/// A record comes in fragments, each behind a mark: its length, and whether it is the last one.
/// Threads: one at a time; a record goes where it likes.
/// Lifetime: a record that is kept keeps the blocks that it lies in, of up to 64 KiB.
/// Limits: most_record_bytes a record, most_fragments fragments. Memory: what has come of the record, and a block; announced
/// lengths take none.
class record_reader {
 public:
  static constexpr std::size_t most_fragments = 1024;
  static constexpr std::size_t most_descriptors = 16;

  /// `most_leading`: of empty fragments in front of a record.
  explicit record_reader(std::size_t most_record_bytes, std::size_t most_leading = most_descriptors) noexcept
      : most_{most_record_bytes}, most_leading_{most_leading} {}

  /// Where to read to; never empty. A sender that fills it gets more the next time.
  ///
  /// Lifetime: until add(), next() or release_room().
  /// Errors: std::bad_alloc.
  [[nodiscard]] std::span<std::byte> room();
  /// So many bytes were read to room().
  void add(std::size_t bytes);
  /// In place of room() and add(): bytes may be appended here in any other way.
  [[nodiscard]] buf::chain& input() noexcept { return input_; }
  /// Gives back the room while nothing is in it: for a connection that will be idle for long.
  void release_room() noexcept;

  /// The next record; none if more has to be read.
  ///
  /// Errors: errc::too_large as soon as the announced lengths exceed the limit, before the bytes arrive. errc::malformed for
  /// too many fragments or descriptors. Every later call gives the same error. std::bad_alloc.
  [[nodiscard]] result<std::optional<buf::chain>> next();

  /// Descriptors that came with the record that next() has just given. On a Unix socket each is announced by an empty fragment in
  /// front of the record.
  [[nodiscard]] std::size_t descriptors() const noexcept { return descriptors_; }

  /// Whether the stream may end here: nothing has come of the next record.
  [[nodiscard]] bool is_between_records() const noexcept { return fragments_ == 0 && input_.empty(); }

 private:
  static constexpr std::size_t first_block_bytes = 4096 - 64;  // with a header, no more than 4 KiB
  static constexpr std::size_t largest_block_bytes = 65536 - 64;

  /// Reads the mark at the front.
  void begin_fragment();
  [[nodiscard]] buf::chain end_record();

  buf::chain input_;   ///< what was read and is not part of record_
  buf::chain record_;  ///< the whole fragments of the record that is under way
  std::size_t most_;
  std::size_t most_leading_;
  std::size_t room_bytes_ = 0;  ///< of what room() has given, without what was added
  std::size_t block_bytes_ = first_block_bytes;
  std::size_t fragment_bytes_ = 0;
  std::size_t fragments_ = 0;  ///< of the record, whose marks were read
  std::size_t leading_ = 0;    ///< those that are empty and in front of its first byte
  std::size_t descriptors_ = 0;
  bool is_in_fragment_ = false;
  bool is_last_ = false;  ///< the fragment
  std::error_code error_;
};

/// Announces the bytes that follow as one record of one fragment.
///
/// Errors: std::bad_alloc.
/// Limits: `bytes` below 2^31.
void write_mark(buf::chain& into, std::size_t bytes);

/// Announces a descriptor that is passed with the record that follows.
void write_descriptor_mark(buf::chain& into);

}  // namespace tartan::rpc
