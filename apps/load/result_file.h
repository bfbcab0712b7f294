#pragma once
/// The file that a result is written to, tried before there is one.

#include <string>
#include <string_view>

namespace load {

/// What the file holds stays until the result is there, and no new one is left behind without it, however the process ends.
///
/// Errors, of both steps: std::system_error.
class result_file {
 public:
  /// Finds out whether it can be written. Waits for the reader of a FIFO.
  explicit result_file(std::string path);
  result_file(const result_file&) = delete;
  result_file& operator=(const result_file&) = delete;
  ~result_file();

  /// Once, all of it.
  void write(std::string_view text);

 private:
  [[noreturn]] void fail() const;
  [[nodiscard]] bool open();
  [[nodiscard]] bool is_regular() const;
  void remove() const noexcept;
  void put(std::string_view text) const;
  void replace(std::string_view text) const;

  std::string path_;
  int descriptor_ = -1;  ///< meanwhile of what is no regular file: a reader at its other end would take a close for the end
};

}  // namespace load
