#pragma once
// The files of a folder, in memory: of the floor and of the servers that are written with a library.

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

namespace bench {

/// (target, bytes) of each file below `root`: ("/a/b.html", "...").
[[nodiscard]] inline std::vector<std::pair<std::string, std::string>> files_below(const std::filesystem::path& root) {
  std::vector<std::pair<std::string, std::string>> found;
  for (const auto& entry : std::filesystem::recursive_directory_iterator{root}) {
    if (!entry.is_regular_file()) continue;
    std::ifstream file{entry.path(), std::ios::binary};
    found.emplace_back("/" + entry.path().lexically_relative(root).string(), std::string{std::istreambuf_iterator<char>{file}, {}});
  }
  return found;
}

/// As many bytes as a real server sends. Without the empty line, so that a Date can follow.
[[nodiscard]] inline std::string head_of(std::size_t body_bytes, const std::string& server) {
  return "HTTP/1.1 200 OK\r\nServer: " + server + "\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: " + std::to_string(body_bytes) +
         "\r\nLast-Modified: Sat, 21 Nov 2026 12:00:00 GMT\r\n";
}

}  // namespace bench
