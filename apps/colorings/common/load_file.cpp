#include "colorings/common/load_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdint>
#include <ctime>
#include <memory>
#include <system_error>

namespace colorings {

namespace {

constexpr std::uint64_t largest = std::uint64_t{64} << 20;

tartan::http::status status_of(int error) noexcept {
  switch (error) {
    case ENOENT:
    case ENOTDIR:
    case ENAMETOOLONG:
      return tartan::http::status::not_found;
    case EACCES:
    case EPERM:
    case ELOOP:  // a symbolic link
    case ENXIO:  // a socket
      return tartan::http::status::forbidden;
    case EMFILE:
    case ENFILE:
    case ENOMEM:
      return tartan::http::status::unavailable;
    default:
      return tartan::http::status::internal_error;
  }
}

tartan::http::status read_file(const path_prefixes& of, const web::file& from, const struct stat& state, web::shared_page& into) {
  if (S_ISDIR(state.st_mode)) return tartan::http::status::moved_permanently;
  if (!S_ISREG(state.st_mode)) return tartan::http::status::forbidden;
  if (static_cast<std::uint64_t>(state.st_size) > largest) return tartan::http::status::unavailable;
  auto page = std::make_shared<web::page>();
  page->size = static_cast<std::uint64_t>(state.st_size);
  page->version = web::file_version::of(state);
  std::string text(page->size, '\0');
  if (!web::read_all(from, text, 0)) return tartan::http::status::internal_error;
  page->body = web::page_body{std::move(text)};
  web::describe(*page, of.file(), {page->version}, std::time(nullptr));
  into = std::move(page);
  return tartan::http::status::ok;
}

}  // namespace

handle open_root(const std::string& folder) {
  auto opened = std::make_shared<const web::file>(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!opened->is_open()) throw std::system_error{errno, std::system_category(), "cannot open the folder '" + folder + "'"};
  return opened;
}

loaded_file load_file(const path_prefixes& of, const known_way& from, const handle& root) {
  loaded_file result;
  known_way at = from;
  while (at.steps < of.all().size()) {
    const bool is_last = at.steps + 1 == of.all().size();
    const int way = is_last ? O_RDONLY | O_NONBLOCK | O_NOCTTY : O_PATH | O_DIRECTORY;
    auto opened = std::make_shared<const web::file>(::openat(at.at->descriptor(), of.name(at.steps).c_str(), way | O_NOFOLLOW | O_CLOEXEC));
    if (!opened->is_open()) {
      result.code = status_of(errno);
      return result;
    }
    result.handles.push_back({at.steps, opened});
    at = {at.steps + 1, std::move(opened)};
  }
  struct stat state{};
  if (::fstat(at.at->descriptor(), &state) != 0) return result;
  if (state.st_nlink == 0 && from.steps != 0) return load_file(of, {0, root}, root);
  result.code = read_file(of, *at.at, state, result.page);
  return result;
}

}  // namespace colorings
