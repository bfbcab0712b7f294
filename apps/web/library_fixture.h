#pragma once
/// For tests of the library.

#include <gtest/gtest.h>
#include <tartan/core/blocking.h>
#include <tartan/core/runtime.h>
#include <tartan/core/spawn.h>
#include <tartan/io/simulation.h>
#include <tartan/time/sleep.h>

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <optional>
#include <semaphore>
#include <string>
#include <string_view>
#include <vector>

#include "web/http.h"
#include "web/library.h"
#include "tests/temporary_folder.h"
#include "tests/virtual_time.h"
#include "tests/web/failing_disk.h"

namespace web::test {

using namespace std::chrono_literals;

/// A folder, and a runtime whose clock the test moves.
class pages : public testing::TestWithParam<unsigned> {
 protected:
  void write(const char* name, const std::string& content) const { std::ofstream{folder_ / name} << content; }
  [[nodiscard]] tartan::runtime runtime() {
    tartan::options with;
    with.workers = GetParam();
    with.stall_after = {};
    with.poller = &clock_;
    clock_.jump_over_jobs();  // ask() holds the one blocking thread for a second
    with.blocking_threads = 1;
    return tartan::runtime{with};
  }
  /// Whose clock stands still while the disk is asked.
  [[nodiscard]] static tartan::runtime runtime(tartan::simulation& world) {
    tartan::options with;
    with.workers = GetParam();
    with.poller = world.poller();
    return tartan::runtime{with};
  }
  [[nodiscard]] std::string folder() const { return folder_.path(); }

  /// Those of this program that are open.
  [[nodiscard]] static std::size_t descriptors() {
    const std::filesystem::directory_iterator open{"/proc/self/fd"};
    return static_cast<std::size_t>(std::distance(begin(open), end(open)));
  }

  [[nodiscard]] static std::string path_of(int n) { return std::string(1, '/').append(std::to_string(n)); }

  [[nodiscard]] static std::size_t shelf_of(std::string_view path) { return std::hash<std::string_view>{}(path) % library_settings{}.shelves; }

  /// This one, and two others of its shelf.
  [[nodiscard]] static std::vector<std::string> paths_beside(const std::string& first) {
    std::vector<std::string> paths{first};
    for (int n = 1; paths.size() < 3; ++n) {
      if (shelf_of(path_of(n)) == shelf_of(first)) paths.push_back(path_of(n));
    }
    return paths;
  }

  /// Each in a color of its own. The disk is busy until all of them wait: only then does this clock move.
  static std::vector<finding> ask(tartan::runtime& rt, library& all, std::string_view path, std::size_t times, page_cache::time now) {
    std::vector<finding> found(times);
    std::binary_semaphore done{0};
    tartan::blocking(rt, {}, [&] { done.acquire(); }, [](tartan::result<>) {});
    rt.spawn([&]() -> tartan::task<> {
        EXPECT_TRUE(co_await tartan::sleep(1s));
        done.release();
      });
    for (std::size_t n = 0; n < times; ++n) {
      rt.spawn_in(tartan::color{100 + n}, [&all, path, now, &into = found[n]]() -> tartan::task<> { into = co_await all.ask(path, now); })
          .detach();
    }
    rt.run_until_idle();
    return found;
  }

  static std::optional<finding> check_ahead(tartan::runtime& rt, library& all, std::string_view path, page_cache::time now) {
    std::optional<finding> found;
    rt.spawn([&]() -> tartan::task<> { found = co_await all.check_ahead(path, now); });
    rt.run_until_idle();
    return found;
  }

  tartan::test::virtual_poller clock_;
  tartan::test::temporary_folder folder_;
  const files_changed long_ago_{-60s};
  const page_cache::time start_{1h};
};

}  // namespace web::test
