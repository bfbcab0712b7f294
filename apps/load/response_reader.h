#pragma once
/// From bytes to an answer.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace load {

/// Reads one answer after the other, and compares each body with what it should be, piece by piece, without keeping it.
///
/// Of a head it looks at the status and at what says where the body ends; whatever leaves that in doubt is refused.
class response_reader {
 public:
  enum class outcome : std::uint8_t { incomplete, complete, malformed };

  /// The next answer. Its body should be `expected`; if that is null, its first `most` bytes are appended to `collected`.
  /// Lifetime: theirs, until the answer is complete.
  void begin(const std::string_view* expected, std::string& collected, std::size_t most = std::string::npos) noexcept;

  /// `text`: what follows what was used so far. What is not used has to be given again, with more behind it.
  [[nodiscard]] outcome take(std::string_view text, std::size_t& used);

  /// The peer has finished: complete if that is where the body ends.
  [[nodiscard]] outcome finish() const noexcept { return part_ == part::until_end ? outcome::complete : outcome::incomplete; }

  /// Of a complete answer.
  [[nodiscard]] unsigned status() const noexcept { return status_; }
  [[nodiscard]] bool keep_alive() const noexcept { return keep_alive_; }
  [[nodiscard]] std::uint64_t body_bytes() const noexcept { return received_; }
  [[nodiscard]] bool has_expectation() const noexcept { return expected_ != nullptr; }
  [[nodiscard]] bool has_expected_length() const noexcept { return expected_ == nullptr || received_ == expected_->size(); }
  [[nodiscard]] bool has_expected_bytes() const noexcept { return !differs_; }

  /// Whether the next byte is one of the body, and how many are known to come.
  [[nodiscard]] bool in_body() const noexcept { return part_ == part::body || part_ == part::chunk || part_ == part::until_end; }
  [[nodiscard]] std::uint64_t left() const noexcept { return part_ == part::until_end ? ~std::uint64_t{0} : left_; }

 private:
  enum class part : std::uint8_t { head, body, until_end, chunk_size, chunk_extension, chunk_size_end, chunk, chunk_end, trailer, trailer_end, done };

  [[nodiscard]] bool read_head(std::string_view head);
  [[nodiscard]] bool read_status_line(std::string_view line);
  [[nodiscard]] bool read_field(std::string_view line);
  [[nodiscard]] bool read_length(std::string_view value);
  void read_connection(std::string_view value);
  [[nodiscard]] bool begin_body();
  void take_body(std::string_view piece);
  std::size_t take_counted(std::string_view text, part then);
  [[nodiscard]] bool take_chunk_byte(char c);
  [[nodiscard]] bool take_size_byte(char c);

  const std::string_view* expected_ = nullptr;
  std::string* collected_ = nullptr;
  std::size_t most_ = 0;       ///< of what is collected
  std::uint64_t received_ = 0;
  std::uint64_t left_ = 0;     ///< of the body, or of the chunk
  unsigned status_ = 0;
  unsigned digits_ = 0;        ///< of a chunk's size
  part part_ = part::head;
  bool keep_alive_ = true;
  bool has_length_ = false;
  bool is_chunked_ = false;
  bool differs_ = false;
  bool line_is_empty_ = true;  ///< of the trailer
};

}  // namespace load
