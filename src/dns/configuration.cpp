#include "dns/configuration.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <climits>
#include <fcntl.h>
#include <netinet/in.h>
#include <optional>
#include <tartan/io/file_descriptor.h>

#include "dns/host_name.h"

namespace tartan::detail {

namespace {

constexpr std::size_t most_file_bytes = std::size_t{16} << 20;

/// Takes the next word off a line; empty: there is none.
std::string_view take_word(std::string_view& line) noexcept {
  constexpr std::string_view blanks = " \t\r";
  const std::size_t begin = std::min(line.find_first_not_of(blanks), line.size());
  const std::size_t end = std::min(line.find_first_of(blanks, begin), line.size());
  const std::string_view word = line.substr(begin, end - begin);
  line.remove_prefix(end);
  return word;
}

/// Calls f with each line, without what is behind one of the marks.
template <class F>
void for_each_line(std::string_view text, std::string_view marks, F f) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    f(line.substr(0, line.find_first_of(marks)));
  }
}

std::string_view without_dot(std::string_view domain) noexcept {
  if (domain.ends_with('.')) domain.remove_suffix(1);
  return domain;
}

void read_option(std::string_view word, server_settings& into) noexcept {
  const auto number_behind = [&](std::string_view name) -> std::optional<unsigned> {
    if (!word.starts_with(name)) return std::nullopt;
    unsigned value = 0;
    const std::string_view digits = word.substr(name.size());
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
    return value;
  };
  if (const auto dots = number_behind("ndots:")) into.dots = std::min(*dots, 15U);
  if (const auto seconds = number_behind("timeout:"))
    into.timeout = std::chrono::seconds{std::clamp(*seconds, 1U, 30U)};
  if (const auto rounds = number_behind("attempts:")) into.attempts = std::clamp(*rounds, 1U, 5U);
}

void read_search(std::string_view line, std::size_t most, server_settings& into) {
  into.names_search = true;
  into.search.clear();
  for (std::string_view word = take_word(line); !word.empty() && into.search.size() < most; word = take_word(line)) {
    if (is_host_name(without_dot(word))) into.search.emplace_back(without_dot(word));
  }
}

/// The domain of this machine, which is searched where nothing else is said.
std::string own_domain() {
  std::array<char, HOST_NAME_MAX + 1> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return {};
  const std::string_view whole{name.data()};
  const std::size_t dot = whole.find('.');
  if (dot == std::string_view::npos || !is_host_name(without_dot(whole.substr(dot + 1)))) return {};
  return std::string{without_dot(whole.substr(dot + 1))};
}

std::error_code last_error() noexcept {
  return {errno, std::system_category()};
}

/// Errors that make a file count as empty.
bool says_nothing(int error) noexcept {
  return error == ENOENT || error == ENOTDIR || error == EACCES;
}

struct file_text {
  file_stamp stamp;
  std::string text;
};

result<std::string> read_all(int file) {
  std::string text;
  std::array<char, 16384> part;
  while (text.size() < most_file_bytes) {
    const ssize_t got = ::read(file, part.data(), part.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return last_error();
    if (got == 0) break;
    text.append(part.data(), static_cast<std::size_t>(got));
  }
  return text;
}

result<file_text> read_file(const std::string& path) {
  file_text got;
  if (path.empty()) return got;
  int descriptor = -1;
  do {
    descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // a FIFO does not hold the thread
  } while (descriptor < 0 && errno == EINTR);
  if (descriptor < 0) {
    if (says_nothing(errno)) return got;
    return last_error();
  }
  const file_descriptor owned{descriptor};
  struct stat found{};
  if (::fstat(descriptor, &found) != 0) return last_error();
  got.stamp = {true, found.st_ino, found.st_size, found.st_mtim.tv_sec * 1'000'000'000 + found.st_mtim.tv_nsec};
  result<std::string> text = read_all(descriptor);
  if (!text) return text.error();
  got.text = std::move(*text);
  return got;
}

file_stamp stamp_of(const std::string& path) noexcept {
  struct stat found{};
  if (path.empty() || ::stat(path.c_str(), &found) != 0) return {};
  return {true, found.st_ino, found.st_size, found.st_mtim.tv_sec * 1'000'000'000 + found.st_mtim.tv_nsec};
}

}  // namespace

server_settings read_server_settings(std::string_view text) {
  server_settings got;
  for_each_line(text, "#;", [&](std::string_view line) {
    const std::string_view key = take_word(line);
    if (key == "nameserver" && got.servers.size() < most_servers) {
      if (const auto at = numeric_host(take_word(line))) got.servers.push_back(*at);
    } else if (key == "search" || key == "domain") {
      read_search(line, key == "domain" ? 1 : most_search_domains, got);
    } else if (key == "options") {
      for (std::string_view word = take_word(line); !word.empty(); word = take_word(line)) read_option(word, got);
    }
  });
  return got;
}

void hosts_table::read(std::string_view text) {
  for_each_line(text, "#", [&](std::string_view line) {
    const auto at = numeric_host(take_word(line));
    if (!at) return;
    for (std::string_view name = take_word(line); !name.empty(); name = take_word(line)) {
      if (!is_host_name(without_dot(name))) continue;
      std::vector<address>& known = addresses_[lower_case(without_dot(name))];
      if (std::ranges::find(known, *at) == known.end()) known.push_back(*at);
      names_[at->to_string()].emplace_back(without_dot(name));
    }
  });
}

const std::vector<address>* hosts_table::addresses_of(std::string_view name) const {
  const auto found = addresses_.find(lower_case(name));
  return found != addresses_.end() ? &found->second : nullptr;
}

const std::vector<std::string>* hosts_table::names_of(const address& at) const {
  const auto found = names_.find(at.with_port(0).to_string());
  return found != names_.end() ? &found->second : nullptr;
}

result<std::shared_ptr<const configuration>> load_configuration(const std::string& servers_path,
                                                                const std::string& hosts_path,
                                                                const std::shared_ptr<const configuration>& old) {
  const auto is_unchanged = [&] {
    return stamp_of(servers_path) == old->servers_stamp && stamp_of(hosts_path) == old->hosts_stamp;
  };
  if (old != nullptr && is_unchanged()) return old;
  result<file_text> servers = read_file(servers_path);
  if (!servers) return servers.error();
  result<file_text> hosts = read_file(hosts_path);
  if (!hosts) return hosts.error();
  auto made = std::make_shared<configuration>();
  made->servers = read_server_settings(servers->text);
  if (!made->servers.names_search && !servers_path.empty()) {
    if (std::string domain = own_domain(); !domain.empty()) made->servers.search.push_back(std::move(domain));
  }
  made->servers_stamp = servers->stamp;
  made->hosts.read(hosts->text);
  made->hosts_stamp = hosts->stamp;
  return std::shared_ptr<const configuration>{std::move(made)};
}

}  // namespace tartan::detail
