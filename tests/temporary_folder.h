#pragma once
/// A folder of a test's own.

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

namespace tartan::test {

/// Empty at first; goes with all that is in it.
///
/// Errors: std::system_error.
class temporary_folder {
 public:
  temporary_folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "tartan-test-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw std::system_error{errno, std::system_category(), "mkdtemp"};
    path_ = pattern;
  }
  temporary_folder(const temporary_folder&) = delete;
  temporary_folder& operator=(const temporary_folder&) = delete;
  ~temporary_folder() {
    std::error_code unused;
    std::filesystem::remove_all(path_, unused);
  }

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
  [[nodiscard]] std::filesystem::path operator/(const std::filesystem::path& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

}  // namespace tartan::test
