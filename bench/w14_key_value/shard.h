#pragma once
// A part of the keys. Whoever uses it sees to it that nobody else does at the same time: that is what the contenders differ in.

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <unordered_map>
#include <utility>

namespace bench {

inline constexpr std::size_t shard_count = 64;

/// Keys and their values, some of which expire: a key that has expired is never seen again, and each command on a shard removes up to
/// `sweep_at_once` of those, so that what nobody asks for goes, too. Without keys that expire no clock is read.
class shard {
 public:
  using clock = std::function<std::int64_t()>;  ///< ms
  static constexpr std::size_t sweep_at_once = 4;

  explicit shard(clock now = steady_ms) : now_{std::move(now)} {}

  [[nodiscard]] std::optional<std::string_view> get(std::string_view key) {
    sweep();
    const auto found = find(key);
    return found == keys_.end() ? std::nullopt : std::optional<std::string_view>{found->second.value};
  }

  /// It does not expire, whatever the key did before.
  void set(std::string_view key, std::string_view value) {
    sweep();
    const auto found = keys_.find(key);
    if (found == keys_.end()) {
      keys_.emplace(key, entry{std::string{value}, never});
      return;
    }
    forget_deadline(found);
    found->second = {std::string{value}, never};
  }

  /// The value after it; nothing if that is no integer, or too large.
  [[nodiscard]] std::optional<std::int64_t> increment(std::string_view key) {
    sweep();
    auto found = find(key);
    if (found == keys_.end()) found = keys_.emplace(key, entry{"0", never}).first;
    std::string& text = found->second.value;
    std::int64_t value = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || failed != std::errc{} || end != text.data() + text.size() || value == std::numeric_limits<std::int64_t>::max()) return std::nullopt;
    text = std::to_string(++value);
    return value;
  }

  /// Whether it was there.
  bool remove(std::string_view key) {
    sweep();
    const auto found = find(key);
    if (found == keys_.end()) return false;
    remove(found);
    return true;
  }

  /// Whether it was there. It is gone when so many seconds are over; at once if that is not more than 0.
  bool expire(std::string_view key, std::int64_t seconds) {
    sweep();
    const auto found = find(key);
    if (found == keys_.end()) return false;
    if (seconds <= 0) {
      remove(found);
      return true;
    }
    forget_deadline(found);
    found->second.deadline_ms = now_() + std::min(seconds, most_seconds) * 1000;
    deadlines_.emplace(found->second.deadline_ms, found->first);
    return true;
  }

  /// With those that have expired and were not removed yet.
  [[nodiscard]] std::size_t size() const noexcept { return keys_.size(); }

 private:
  static constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();
  static constexpr std::int64_t most_seconds = 1'000'000'000;

  struct entry {
    std::string value;
    std::int64_t deadline_ms = never;
  };
  struct hash_of_text {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const noexcept { return std::hash<std::string_view>{}(text); }
  };
  using map = std::unordered_map<std::string, entry, hash_of_text, std::equal_to<>>;

  static std::int64_t steady_ms() {
    return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
  }

  map::iterator find(std::string_view key) {
    const auto found = keys_.find(key);
    if (found == keys_.end() || found->second.deadline_ms == never || found->second.deadline_ms > now_()) return found;
    remove(found);
    return keys_.end();
  }

  void forget_deadline(map::iterator of) {
    if (of->second.deadline_ms != never) deadlines_.erase({of->second.deadline_ms, of->first});
  }
  void remove(map::iterator gone) {
    forget_deadline(gone);
    keys_.erase(gone);
  }

  void sweep() {
    if (deadlines_.empty()) return;
    const std::int64_t now = now_();
    for (std::size_t n = 0; n < sweep_at_once && !deadlines_.empty() && deadlines_.begin()->first <= now; ++n) {
      keys_.erase(keys_.find(deadlines_.begin()->second));
      deadlines_.erase(deadlines_.begin());
    }
  }

  clock now_;
  map keys_;
  std::set<std::pair<std::int64_t, std::string>> deadlines_;
};

}  // namespace bench
