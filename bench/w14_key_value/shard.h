#pragma once
// One part of the keys. It has no lock: the caller must exclude concurrent use. How it does so is what W14 compares.

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

/// Keys with values, some of which expire.
///
/// An expired key is never returned. Each command also removes up to `sweep_at_once` expired keys, so that keys which
/// no client asks for do not stay. The clock is read only while the shard has keys that expire.
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

  /// The new value does not expire, even if the old one did.
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

  /// The new value; nothing if the old one is no integer or would overflow.
  [[nodiscard]] std::optional<std::int64_t> increment(std::string_view key) {
    sweep();
    auto found = find(key);
    if (found == keys_.end()) found = keys_.emplace(key, entry{"0", never}).first;
    std::string& text = found->second.value;
    std::int64_t value = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || failed != std::errc{} || end != text.data() + text.size() ||
        value == std::numeric_limits<std::int64_t>::max())
      return std::nullopt;
    text = std::to_string(++value);
    return value;
  }

  /// Whether the key existed.
  bool remove(std::string_view key) {
    sweep();
    const auto found = find(key);
    if (found == keys_.end()) return false;
    remove(found);
    return true;
  }

  /// Whether the key existed. It expires after this many seconds; with 0 or less it is removed at once.
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

  /// Includes expired keys that are not removed yet.
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
    return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
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
