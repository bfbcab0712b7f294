#include "web/document_root.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <limits>
#include <memory>
#include <system_error>
#include <utility>
#include <vector>

#include "web/listing.h"
#include "web/sibling.h"

namespace web {

namespace {

constexpr std::size_t most_listed = 10'000;
constexpr int to_look_up = O_PATH | O_DIRECTORY | O_CLOEXEC;  // who may, need not be allowed to see what is there

struct close_folder {
  void operator()(DIR* open) const noexcept { ::closedir(open); }
};

/// As it is there for a read without waiting for a pipe's other end; or, with O_PATH, only to be looked at.
int open_beneath(int folder, const char* path, int way = O_RDONLY | O_NOCTTY | O_NONBLOCK) noexcept {
  open_how how{};
  how.flags = static_cast<std::uint64_t>(way | O_CLOEXEC);
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  for (int tries = 0;; ++tries) {
    const int opened = static_cast<int>(::syscall(SYS_openat2, folder, path, &how, sizeof how));
    // EAGAIN: something was renamed meanwhile, and the kernel cannot say whether the path stayed inside.
    if (opened >= 0 || (errno != EINTR && errno != EAGAIN) || tries == 16) return opened;
  }
}

http::status status_of(int error) noexcept {
  switch (error) {
    case ENOENT:
    case ENOTDIR:
    case ENAMETOOLONG:
      return http::status::not_found;
    case EACCES:
    case EPERM:
    case EXDEV:  // leads out
    case ELOOP:
    case ENXIO:  // a socket, or a device without a driver
      return http::status::forbidden;
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case EAGAIN:
      return http::status::unavailable;
    default:
      return http::status::internal_error;
  }
}

/// A change within the same tick of the kernel's clock as the one before, 10 ms at most, leaves the same time behind. So a file that was
/// changed a moment ago cannot be known by its version.
bool may_change_unseen(const file_version& version) noexcept {
  constexpr std::int64_t moment_ns = 20'000'000;
  constexpr std::int64_t second_ns = 1'000'000'000;
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME_COARSE, &now);
  const bool same_second = now.tv_nsec >= moment_ns;
  const file_time moment_ago{same_second ? now.tv_sec : now.tv_sec - 1, now.tv_nsec - moment_ns + (same_second ? 0 : second_ns)};
  return version.changed > moment_ago;
}

document failed(http::status why) {
  document nothing;
  nothing.code = why;
  return nothing;
}

/// Tools that give a file another one's time may drop the fraction of the second, as brotli does before version 1.1; when they did it, no tool says.
bool is_older(const struct stat& sibling, const file_time& file) noexcept {
  const file_time modified = file_time::of(sibling.st_mtim);
  const bool is_cut = modified.nanoseconds == 0 && modified.seconds == file.seconds && file_time::of(sibling.st_ctim) >= file;
  return modified < file && !is_cut;
}

/// Whether it may still be being written: it was modified less than 2 s ago, or is dated in the future. A compressor
/// that writes in place leaves an empty file first, then a part; and a client, or a cache on the way, would keep that.
bool is_young(const struct stat& sibling) noexcept {
  constexpr std::int64_t settled_after_s = 2;
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME_COARSE, &now);  // as the kernel dates files
  return file_time::of(sibling.st_mtim) > file_time{now.tv_sec - settled_after_s, now.tv_nsec};
}

struct found_siblings {
  http::coding_set settled;      ///< that may be sent
  bool has_young = false;  ///< there is one more
};

/// A sibling that is older than its file was made from an earlier state of it; an empty one decodes to nothing.
/// Nothing: the siblings cannot be known, for want of a descriptor or memory.
std::optional<found_siblings> siblings_of(int folder, const std::string& name, const file_version& version) noexcept {
  found_siblings found;
  for (const http::coding each : http::compressions) {
    std::array<char, PATH_MAX> path;
    const std::string_view suffix = suffix_of(each);
    if (name.size() + suffix.size() >= path.size()) continue;
    *std::copy(suffix.begin(), suffix.end(), std::copy(name.begin(), name.end(), path.begin())) = '\0';
    const file sibling{open_beneath(folder, path.data(), O_PATH)};
    if (!sibling.is_open() && status_of(errno) == http::status::unavailable) return std::nullopt;
    struct stat now{};
    if (!sibling.is_open() || ::fstat(sibling.descriptor(), &now) != 0) continue;
    if (!S_ISREG(now.st_mode)) continue;
    if (is_young(now)) {
      found.has_young = true;
    } else if (now.st_size != 0 && !is_older(now, version.modified)) {
      found.settled.add(each);
    }
  }
  return found;
}

}  // namespace

document_root::document_root(const std::string& folder, const root_options& with, std::shared_ptr<shortage> told)
    : path_{folder}, with_{with}, told_{std::move(told)} {
  folder_ = file{::open(folder.c_str(), to_look_up)};
  struct stat is{};
  if (!folder_.is_open() || ::fstat(folder_.descriptor(), &is) != 0) {
    throw std::system_error{errno, std::system_category(), "cannot read the folder '" + folder + "'"};
  }
  device_ = is.st_dev;
  number_ = is.st_ino;
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  opened_ = file_time::of(now);
  check();
}

/// What may be looked up in it is what counts, not what it says of itself.
void document_root::check() const {
  const file probe{open_beneath(folder_.descriptor(), "./", O_PATH)};
  if (!probe.is_open()) throw std::system_error{errno, std::system_category(), "cannot open files in '" + path_ + "' with openat2"};
}

/// Of a file that cannot be opened.
http::status document_root::failure_of(int error) const noexcept {
  if (told_ != nullptr) told_->tell("open a file", error);
  return status_of(error);
}

document_root::place document_root::now() const noexcept {
  place found;
  found.descriptor_ = folder_.descriptor();
  struct stat there{};
  if (::stat(path_.c_str(), &there) != 0) {
    struct stat mine{};
    const bool is_deleted = ::fstat(folder_.descriptor(), &mine) == 0 && mine.st_nlink == 0;
    if (is_deleted || has_moved_.load(std::memory_order_relaxed)) found.code_ = http::status::unavailable;  // the next one is about to come
    return found;
  }
  if (is_of_the_start(there)) return found;
  has_moved_.store(true, std::memory_order_relaxed);
  found.own_ = file{::open(path_.c_str(), to_look_up)};
  found.descriptor_ = found.own_.descriptor();
  if (found.own_.is_open()) return found;
  found.code_ = errno == ENOENT || errno == ENOTDIR ? http::status::unavailable : failure_of(errno);
  return found;
}

bool document_root::is_still_there() const noexcept {
  struct stat there{};
  return ::stat(path_.c_str(), &there) == 0 && is_of_the_start(there);
}

bool document_root::is_of_the_start(const struct stat& folder) const noexcept { return folder.st_dev == device_ && folder.st_ino == number_; }

document document_root::load(std::string_view key, std::size_t most, const page* known, const place& in) const {
  if (in.code_ != http::status::ok) return failed(in.code_);
  for (int tries = 0; tries < 3; ++tries) {
    std::optional<document> found = load_once(key, most, known, in.descriptor());
    if (found) return std::move(*found);
  }
  return failed(http::status::unavailable);
}

/// The file that is meant by a path. It need not be there.
std::string document_root::name_of(std::string_view path, int in) const {
  std::string name{path.substr(1)};
  if (name.empty() || name.back() == '/') return name += "index.html";
  if (!with_.clean_urls) return name;
  const auto is_file = [in](const std::string& each) {
    const file looked_at{open_beneath(in, each.c_str(), O_PATH)};
    struct stat now{};
    return looked_at.is_open() && ::fstat(looked_at.descriptor(), &now) == 0 && S_ISREG(now.st_mode);
  };
  return is_file(name) || !is_file(name + ".html") ? name : name + ".html";
}

/// Nothing: somebody has written to the file while it was read or opened, so that it may be a mixture, or have zeros for what was cut off.
std::optional<document> document_root::load_once(std::string_view key, std::size_t most, const page* known, int in) const {
  const representation wanted{key};
  const std::string name = name_of(wanted.path, in);
  file opened{open_beneath(in, (name + std::string{suffix_of(wanted.as)}).c_str())};
  if (!opened.is_open()) {
    const int error = errno;
    const bool may_be_listed = with_.listings && wanted.as == http::coding::identity && wanted.path.ends_with('/');
    return error == ENOENT && may_be_listed ? list(wanted.path, in) : failed(failure_of(error));
  }
  struct stat now{};
  if (::fstat(opened.descriptor(), &now) != 0) return failed(http::status::internal_error);
  if (S_ISDIR(now.st_mode) && !wanted.path.ends_with('/')) return failed(http::status::moved_permanently);
  if (S_ISDIR(now.st_mode)) return with_.listings && wanted.as == http::coding::identity ? list(wanted.path, in) : failed(http::status::not_found);
  if (!S_ISREG(now.st_mode)) return failed(http::status::forbidden);
  // It may have been written anew since its file was looked at.
  if (wanted.as != http::coding::identity && (now.st_size == 0 || is_young(now))) return failed(http::status::not_found);

  document found;
  found.code = http::status::ok;
  found.content.size = static_cast<std::uint64_t>(now.st_size);
  const file_version version = found.content.version = file_version::of(now);
  if (with_.precompressed && wanted.as == http::coding::identity) {
    const std::optional<found_siblings> there = siblings_of(in, name, version);
    if (!there) return failed(failure_of(errno));
    found.content.siblings = there->settled;
    found.content.has_young_sibling = there->has_young;
  }
  const bool young = may_change_unseen(version);  // asked before it is read
  const bool has_same_siblings = known != nullptr && known->siblings == found.content.siblings &&
                                 known->has_young_sibling == found.content.has_young_sibling;
  const bool is_known = has_same_siblings && known->version == version;
  const std::time_t seconds = std::time(nullptr);
  // Else it gets its tag, or its date, now.
  if (is_known && (young || (!known->tag.empty() && known->modified == date_of({version}, seconds)))) {
    found.unchanged = true;
    return found;
  }
  if (found.content.size > most) {  // its version need not be certain: what changes within the file is seen through the descriptor
    describe(found.content, name, {version, !young, wanted.as, opened_}, seconds, with_.pages);
    found.large = std::make_shared<const shared_file>(std::move(opened), version, "/" + name + std::string{suffix_of(wanted.as)});
    if (!found.large->is_as_it_was()) return std::nullopt;
    return found;
  }
  std::string text(found.content.size, '\0');
  const bool is_read = read_all(opened, text, 0);
  const bool has_ended = !is_read && errno == 0;
  struct stat after{};
  const bool is_looked_at = ::fstat(opened.descriptor(), &after) == 0;
  const bool is_other = is_looked_at && (after.st_size != now.st_size || file_version::of(after).modified != version.modified);
  if (has_ended || is_other) return std::nullopt;
  if (!is_read) return failed(http::status::internal_error);
  found.content.body = page_body{std::move(text)};
  const bool certain = !young && is_looked_at && file_version::of(after) == version;
  if (!certain) found.content.version = {};
  describe(found.content, name, {version, certain, wanted.as, opened_}, seconds, with_.pages);
  return found;
}

/// A page of its own each time: that a file in it has changed is not seen from the folder.
document document_root::list(std::string_view path, int in) const {
  const std::string name = "." + std::string{path};
  file folder{open_beneath(in, name.c_str(), O_RDONLY | O_DIRECTORY)};
  if (!folder.is_open()) return failed(failure_of(errno));
  const std::unique_ptr<DIR, close_folder> entries{::fdopendir(folder.descriptor())};
  if (entries == nullptr) return failed(failure_of(errno));
  static_cast<void>(folder.release());
  std::vector<listed> found;
  for (const dirent* entry = nullptr; (errno = 0, entry = ::readdir(entries.get())) != nullptr;) {
    if (entry->d_name[0] == '.') continue;
    if (found.size() == most_listed) break;
    const file one{open_beneath(in, (name + entry->d_name).c_str(), O_PATH)};  // what leads out is not served, nor named
    if (!one.is_open() && status_of(errno) == http::status::unavailable) return failed(failure_of(errno));
    struct stat now{};
    if (!one.is_open() || ::fstat(one.descriptor(), &now) != 0 || (!S_ISREG(now.st_mode) && !S_ISDIR(now.st_mode))) continue;
    found.push_back({entry->d_name, S_ISDIR(now.st_mode), static_cast<std::uint64_t>(now.st_size), now.st_mtim.tv_sec});
  }
  if (errno != 0) return failed(http::status::internal_error);
  document page;
  page.code = http::status::ok;
  page.content.body = page_body{listing_page(path, std::move(found))};
  page.content.size = page.content.body.size();
  file_version never;
  never.modified.seconds = std::numeric_limits<std::int64_t>::max();
  describe(page.content, "index.html", {never, false, http::coding::identity}, std::time(nullptr), {.headers = with_.pages.headers});
  return page;
}

}  // namespace web
