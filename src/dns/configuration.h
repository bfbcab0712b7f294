#pragma once
/// What the system's files say about names.

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <tartan/core/result.h>
#include <tartan/dns/answers.h>
#include <tartan/io/address.h>
#include <unordered_map>
#include <vector>

namespace tartan::detail {

inline constexpr std::size_t most_servers = 8;
inline constexpr std::size_t most_search_domains = 16;
inline constexpr unsigned most_rounds = 8;

/// How name servers are asked (resolv.conf).
struct server_settings {
  std::vector<address> servers;
  std::vector<std::string> search;
  bool names_search = false;  ///< the text has a line "search" or "domain"
  unsigned dots = 1;
  std::chrono::milliseconds timeout = std::chrono::seconds{5};
  unsigned attempts = 2;
};

/// Lines that are not understood are passed over, as the C library does.
[[nodiscard]] server_settings read_server_settings(std::string_view text);

/// Names and addresses by each other (hosts).
class hosts_table {
 public:
  /// Lines that are not understood are passed over.
  void read(std::string_view text);

  /// Null: it has none.
  [[nodiscard]] const std::vector<address>* addresses_of(std::string_view name) const;
  [[nodiscard]] const std::vector<std::string>* names_of(const address& at) const;

 private:
  std::unordered_map<std::string, std::vector<address>> addresses_;  ///< by the name in lower case
  std::unordered_map<std::string, std::vector<std::string>> names_;  ///< by the address as text
};

/// Which version of a file was read.
struct file_stamp {
  bool exists = false;
  std::uint64_t inode = 0;
  std::int64_t bytes = 0;
  std::int64_t changed_ns = 0;
  [[nodiscard]] bool operator==(const file_stamp&) const = default;
};

struct configuration {
  server_settings servers;
  hosts_table hosts;
  file_stamp servers_stamp;
  file_stamp hosts_stamp;
};

/// Reads both files; gives `old` if neither has changed since. Blocks.
///
/// An empty path counts as an empty file, and so does a file that does not exist or that this program may not read.
///
/// Errors: what the system says otherwise. std::bad_alloc.
[[nodiscard]] result<std::shared_ptr<const configuration>> load_configuration(
    const std::string& servers_path, const std::string& hosts_path, const std::shared_ptr<const configuration>& old);

}  // namespace tartan::detail
