#pragma once
/// The pages that all workers share.

#include <tartan/core/runtime.h>
#include <tartan/core/semaphore.h>
#include <tartan/core/strand.h>
#include <tartan/core/task.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "document_root.h"
#include "page_cache.h"

namespace web {

/// What is under a path, for any number of connections.
struct finding {
  status code = status::not_found;
  shared_page content;                ///< if ok
  std::shared_ptr<const file> large;  ///< if the body is to be sent from the disk
  std::uint64_t size = 0;             ///< bytes of the file
  page_cache::time checked{};         ///< when the disk was asked
};

/// How pages are kept.
struct library_settings {
  std::size_t largest_page = 64 * 1024;      ///< bytes of a file that is kept in memory; larger ones are sent from the disk
  std::chrono::milliseconds recheck{1'000};  ///< how long a page is given out before the disk is asked whether it has changed
  cache_limits cache;
};

/// Gives each page out to whoever asks, and reads it from the disk when it has to: once, however many ask meanwhile.
///
/// Color: any. It consists of shelves, each with a color of its own: whoever asks visits the shelf's color, so that there is no lock, and
/// pages on different shelves are looked up in parallel. A page never changes and is counted, so it may be kept and sent in any color.
/// Lifetime: must outlive what is asked; the folder must outlive it.
class library {
 public:
  library(tartan::runtime& rt, const document_root& from, const library_settings& with);

  /// What is under a path: at most `recheck` old, or older while somebody is asking the disk already.
  ///
  /// `path` must live until the end. Errors: as document_root's, by status; 503 if the coroutine was asked to end. std::system_error
  /// without a thread for the disk.
  /// Cost: two moves between colors; if it is not there, or too old, a job of a blocking thread.
  [[nodiscard]] tartan::task<finding> ask(std::string_view path, page_cache::time now);

  /// How often the disk was asked. Threads: while nothing runs.
  [[nodiscard]] std::size_t loads() const noexcept;

 private:
  /// A path that is not there: who asks for it waits until the first one has it.
  struct arrival {
    tartan::semaphore turn{1};
    std::size_t awaiting = 0;
    std::optional<finding> came;
  };
  struct shelf {
    shelf(tartan::runtime& rt, const cache_limits& limits) : color{rt, "shelf"}, pages{limits} {}
    tartan::strand color;
    page_cache pages;
    std::unordered_map<std::string, arrival> arrivals;
    std::size_t loads = 0;
  };

  [[nodiscard]] tartan::task<finding> load(shelf& in, std::string_view path, page_cache::time now);
  [[nodiscard]] tartan::task<finding> await_arrival(shelf& in, std::string_view path, page_cache::time now);

  const document_root& root_;
  const library_settings with_;
  std::array<std::unique_ptr<shelf>, 64> shelves_;
};

}  // namespace web
