// Configuration files: settings within their ranges, or one line that says where the mistake is.
//
// Input: the file.
#include "web/config.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <set>
#include <string>
#include <system_error>

#include "fuzz_target.h"
#include "common/one_line.h"

namespace tartan::http::fuzz {

namespace {

/// A file in memory: read_config wants one.
class memory_file {
 public:
  memory_file()
      : descriptor_{::memfd_create("config", MFD_CLOEXEC)}, path_{"/proc/self/fd/" + std::to_string(descriptor_)} {
    if (descriptor_ < 0) throw std::system_error{errno, std::generic_category(), "memfd_create"};
  }
  ~memory_file() { ::close(descriptor_); }
  memory_file(const memory_file&) = delete;
  memory_file& operator=(const memory_file&) = delete;

  void write(std::string_view text) const {
    const bool good = ::ftruncate(descriptor_, 0) == 0 &&
                      ::pwrite(descriptor_, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size());
    if (!good) throw std::system_error{errno, std::generic_category(), "memory_file"};
  }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  int descriptor_;
  std::string path_;
};

bool is_time(std::chrono::milliseconds t) {
  return t.count() >= 0 && t.count() <= 1'000'000'000;
}

void check_settings(const web::settings& found) {
  promise(found.workers <= 1024 && found.max_connections >= 1 && found.max_connections <= 1'000'000,
          "workers and connections are within their ranges");
  promise(is_time(found.times.header) && is_time(found.times.idle) && is_time(found.times.write) &&
              is_time(found.times.drain) && is_time(found.pages.recheck),
          "times are within their ranges");
  promise(found.pages.cache.bytes <= std::uint64_t{1} << 40 && found.pages.cache.entries <= 1'000'000'000 &&
              found.pages.largest_page <= std::size_t{16} << 20,
          "the cache is within its ranges");
  promise(!found.listen.empty() || !found.listen_tls.empty(), "it listens somewhere");
  promise(!found.hosts.empty(), "there is a host");
  std::set<std::string> names;
  for (const web::host_settings& host : found.hosts) {
    promise(!host.root.empty(), "a host has a root");
    promise(host.certificate.empty() == host.key.empty(), "a certificate has a key");
    promise(host.fallback.empty() || host.fallback.starts_with('/'), "a fallback is a path");
    for (const web::page_rule& rule : host.with.pages.rules) {
      promise(rule.path.starts_with('/') || !rule.extensions.empty(), "a rule is for some files");
      promise(!rule.cache_control.empty() || !rule.headers.empty(), "a rule says something");
    }
    promise(&host == &found.hosts.front() || !host.names.empty(), "another host has a name");
    for (const std::string& name : host.names) {
      promise(!name.empty() && names.insert(name).second, "a name is one host's");
      promise(std::none_of(name.begin(), name.end(), [](char c) { return c >= 'A' && c <= 'Z'; }),
              "a name is in small letters");
    }
  }
}

/// "FILE:LINE: why", and the file has that line.
void check_error(const std::string& said, const std::string& path, std::string_view text) {
  promise(said.starts_with(path + ":"), "an error names the file");
  const std::string place = said.substr(path.size() + 1);
  const std::size_t colon = place.find(':');
  promise(colon != 0 && colon != std::string::npos && place.find_first_not_of("0123456789") == colon,
          "an error names the line");
  const auto lines = std::count(text.begin(), text.end(), '\n') + 1;
  const long line = std::stol(place);
  promise(line >= 1 && line <= lines, "the file has that line: " + place);
  promise(place.size() > colon + 2, "an error says what is wrong");
  const std::string shown = apps::one_line(said);
  promise(std::none_of(shown.begin(), shown.end(), [](char c) { return (c >= 0 && c < 0x20) || c == 0x7f; }),
          "an error is shown on one line");
}

}  // namespace

void fuzz_config(std::string_view input) {
  static const memory_file file;
  file.write(input);
  try {
    check_settings(web::read_config(file.path()));
  } catch (const apps::config_error& wrong) {
    check_error(wrong.what(), file.path(), input);
  }
}

}  // namespace tartan::http::fuzz
