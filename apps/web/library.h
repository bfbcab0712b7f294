#pragma once
/// The pages that all workers share.

#include <tartan/core/runtime.h>
#include <tartan/core/semaphore.h>
#include <tartan/core/strand.h>
#include <tartan/core/task.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "web/document_root.h"
#include "web/http.h"
#include "web/page_cache.h"

namespace web {

/// What is under a path, for any number of connections.
struct finding {
  http::status code = http::status::not_found;
  shared_page content;                ///< if ok
  large_file large;                   ///< if the body is to be sent from the disk: the same for all who send it
  page_cache::time checked{};         ///< when the disk was asked
};

/// How pages are kept.
struct library_settings {
  std::size_t largest_page = 64 * 1024;      ///< bytes of a file that is kept in memory, and half of what a shelf has; larger ones are sent from the disk
  std::size_t short_page = 64 * 1024;        ///< longer ones are kept, too, if not too many have come: as many bytes as the cache has, in each `renewal`
  std::chrono::milliseconds renewal{10'000};
  std::size_t most_living = std::numeric_limits<std::size_t>::max();  ///< bytes of bodies, for each library of this process; then no long page is read
  std::chrono::milliseconds recheck{1'000};  ///< how long ago the disk was asked about a page that is given out, at most, if it answers
  cache_limits cache{};
  std::chrono::milliseconds longest_sweep{20};  ///< of a job that checks pages ahead of time
  std::size_t open_files = 512;              ///< large ones that stay open although nobody sends them: for 5 to 10 s, those that were used last
  std::size_t shelves = 64;                  ///< each has an equal part of all this

  [[nodiscard]] bool operator==(const library_settings&) const = default;

  /// Whether it is time to have the disk asked about a page that goes on to be given out meanwhile: never, if there is no time for that.
  [[nodiscard]] bool is_due(page_cache::time checked, page_cache::time now) const noexcept {
    return now - checked >= recheck / 2 && recheck >= std::chrono::milliseconds{50};
  }
  /// How long after a check a page is given out without another one. A page with a sibling that may still be being
  /// written has a second at most, however long the others have: else the sibling would not be found when it is old
  /// enough.
  [[nodiscard]] std::chrono::milliseconds fresh_for(const page& what) const noexcept {
    return what.has_young_sibling ? std::min(recheck, std::chrono::milliseconds{1'000}) : recheck;
  }
  /// Between two questions ahead of time: so long they gather, to be asked together.
  [[nodiscard]] std::chrono::milliseconds pause() const noexcept { return recheck / 8; }
};

/// Gives each page out to whoever asks, and reads it from the disk when it has to: once, however many ask meanwhile.
///
/// Color: any. It consists of shelves, each with a color of its own: whoever asks visits the shelf's color, so that there is no lock, and
/// pages on different shelves are looked up in parallel. A page never changes and is counted, so it may be kept and sent in any color. A
/// large file has one descriptor, however many send it, and stays open for some seconds more: so it can be sent again without a question to the disk.
/// Lifetime: must outlive what is asked; the folder must outlive it.
class library {
 public:
  ///
  /// `sweeps`: a permit for each check ahead of time that is under way; who holds all of them knows that there is none. Null: its own.
  library(tartan::runtime& rt, const document_root& from, const library_settings& with, std::shared_ptr<tartan::semaphore> sweeps = nullptr);

  static constexpr std::size_t most_sweeps = 16;  ///< permits, of all libraries that share them

  /// What is under a key of key_of: at most `recheck` old. While somebody asks the disk about a page, others get it as it was, with the time at
  /// which it was checked; nobody gets what a load has brought that had ended before the question.
  ///
  /// `key` must live until the end. Errors: as document_root's, by status; 503 too if there is no memory or no thread for the disk, a file is written
  /// to however often it is read, or the coroutine was asked to end. What was there before, and cannot be checked for want of one of these, is given out
  /// as it was.
  /// Cost: two moves between colors; if it is not there, or too old, a job of a blocking thread.
  [[nodiscard]] tartan::task<finding> ask(std::string_view key, page_cache::time now);

  /// What is known by now of a page that is due, and goes on to be given out: nothing, as long as the disk has not been asked anew; for that it
  /// is put on a list, of which the first question that comes recheck / 8 after the list was begun makes one job. So whoever serves the page asks
  /// again each recheck / 8.
  ///
  /// `key` must live until the end. Errors: none; a page that could not be checked becomes too old, and is then asked for.
  /// A page that was left on the disk, for too many had come, is read into memory at once if that is so no more, and sweeps leave
  /// two permits.
  /// Limits: 1024 pages on the list; what comes then is not. A job ends after longest_sweep, or behind the file with which it has read 1 MB; the
  /// rest is for the next one.
  /// Cost: two moves between colors, or three; for one of many, a job of a blocking thread.
  [[nodiscard]] tartan::task<std::optional<finding>> check_ahead(std::string_view key, page_cache::time now);

  /// Bytes of a file that may be kept in memory.
  [[nodiscard]] std::size_t largest_page() const noexcept { return with_.largest_page; }

  /// How often the disk was asked. Threads: while nothing runs; or an event, of the only worker.
  [[nodiscard]] std::size_t loads() const noexcept;

 private:
  /// One question to the disk. Who has the same one meanwhile waits in line for the answer.
  struct question {
    tartan::semaphore turn{1};
    std::optional<finding> answer;
  };
  struct shelf {
    shelf(tartan::runtime& rt, const cache_limits& limits) : color{rt, "shelf"}, pages{limits} {}
    tartan::strand color;
    page_cache pages;
    std::vector<large_file> files;  ///< used a short time ago; the last one that was asked for here is the last
    bool closes = false;            ///< somebody looks after them
    std::map<std::string, std::shared_ptr<question>, std::less<>> open;  ///< those without an answer, by key
    std::size_t loads = 0;
    std::size_t long_pages = 0;         ///< bytes that were to be read, less those that could have been read since
    page_cache::time credited{};        ///< up to when the latter were counted
  };

  /// A page that the disk is to be asked about ahead of time.
  struct due_page {
    shelf* on;
    std::string key;
    std::weak_ptr<const page> known;
  };
  /// Those that gather.
  struct sweep {
    explicit sweep(tartan::runtime& rt) : color{rt, "sweep"} {}
    tartan::strand color;
    std::vector<due_page> due;
    page_cache::time begun{};  ///< when the first of them came
    bool running = false;      ///< a job is under way
  };

  [[nodiscard]] const std::shared_ptr<shelf>& shelf_of(std::string_view key) noexcept;
  [[nodiscard]] bool may_be_read(shelf& of, std::uint64_t size, page_cache::time now) const noexcept;
  [[nodiscard]] bool is_to_be_read(shelf& of, const page& known, page_cache::time now) const noexcept;
  void stay_open(const std::shared_ptr<shelf>& on, const large_file& what) noexcept;
  static tartan::task<> close_unused(std::weak_ptr<shelf> at);
  [[nodiscard]] tartan::task<> check_due(page_cache::time now);
  [[nodiscard]] static tartan::task<> keep_swept(const std::vector<due_page>& all, std::vector<document>& came, page_cache::time asked);
  [[nodiscard]] static tartan::task<> keep_on(shelf& into, const std::vector<due_page>& all, std::vector<document>& came,
                                              std::span<const std::size_t> which, page_cache::time asked);
  [[nodiscard]] std::vector<document> load_again(const std::vector<due_page>& all) const;
  [[nodiscard]] static finding keep(shelf& into, std::string_view key, document came, const std::optional<finding>& old, page_cache::time asked);
  [[nodiscard]] tartan::task<finding> ask_disk(shelf& of, std::string_view key, page_cache::time now);
  [[nodiscard]] tartan::task<http::status> read_long(shelf& into, document& what);
  [[nodiscard]] tartan::task<finding> load(shelf& into, std::string_view key, page_cache::time now, const std::optional<finding>& old);

  /// One of those that there are in this process: a reload makes new ones, while long downloads keep the old ones.
  class one_of_all {
   public:
    one_of_all() noexcept { all_.fetch_add(1, std::memory_order_relaxed); }
    one_of_all(const one_of_all&) = delete;
    one_of_all& operator=(const one_of_all&) = delete;
    ~one_of_all() { all_.fetch_sub(1, std::memory_order_relaxed); }
    [[nodiscard]] static std::size_t of() noexcept { return all_.load(std::memory_order_relaxed); }

   private:
    static inline std::atomic<std::size_t> all_{0};  ///< relaxed: a hint
  };

  const one_of_all living_;
  const document_root& root_;
  const library_settings with_;
  const std::shared_ptr<tartan::semaphore> sweeps_;
  std::vector<std::shared_ptr<shelf>> shelves_;
  sweep sweep_;
};

}  // namespace web
