#pragma once
/// What a load has shown.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "load/fairness.h"
#include "load/histogram.h"
#include "load/process_tree.h"
#include "load/settings.h"

namespace load {

enum class error_kind : std::uint8_t { connect, read, write, timeout, status, length, body, closed_early };
inline constexpr std::size_t error_kinds = 8;
inline constexpr std::array<const char*, error_kinds> error_names{"connect", "read",   "write", "timeout",
                                                                  "status",  "length", "body",  "closed_early"};

/// Of one injector, or of several together.
struct load_result {
  std::uint64_t requests = 0;     ///< that were answered as they should, in what is measured
  std::uint64_t bytes = 0;        ///< of their bodies
  std::uint64_t unanswered = 0;   ///< open loop: due, and without an answer at the end
  std::uint64_t renewed = 0;      ///< open loop: requests that were sent again, as an idle connection had been closed
  std::uint64_t connections = 0;  ///< made in the whole run
  std::uint64_t open_connections = 0;  ///< at the end
  std::uint64_t starved = 0;      ///< clients without an answer
  std::uint64_t abandoned = 0;    ///< clients that at the end had waited for longer than half of what is measured
  std::uint64_t longest_wait_ns = 0;  ///< of a request that had no answer at the end
  double seconds = 0;             ///< that were measured
  double cpu_s = 0;               ///< of the injectors, meanwhile
  std::uint64_t involuntary_switches = 0;
  std::uint64_t saturated = 0;    ///< injectors that had hardly any CPU time left
  std::array<std::uint64_t, error_kinds> errors{};  ///< of the whole run
  histogram latency;
  fairness shares;                ///< of the clients

  void add(const load_result& other);
  [[nodiscard]] bool has_errors() const;

  /// As one line, for another process.
  [[nodiscard]] std::string to_line() const;
  [[nodiscard]] static std::optional<load_result> parse(std::string_view line);
};

/// An injector with so many workers that has used so much CPU time in so many seconds may have been what was measured.
[[nodiscard]] constexpr bool is_saturated(double cpu_s, double seconds, unsigned workers) noexcept {
  constexpr double most = 0.9;
  return seconds > 0 && cpu_s >= most * seconds * workers;
}

struct server_result {
  used_between used;
  tree_memory before;  ///< the first connection
  tree_memory after;   ///< what is measured, with all connections open
};

/// One line that says why the exit status is 1: errors, no right answer in the measured time, a server process that has
/// ended. Empty: the status is 0.
///
/// Without a right answer nothing was measured, even if there is no error: the server never answers, or a signal comes
/// before the first answer.
[[nodiscard]] std::string what_went_wrong(const load_result& of, const std::optional<server_result>& server);

/// One object.
[[nodiscard]] std::string to_json(const load_result& of, const std::optional<server_result>& server, const http_settings& asked);
/// For people.
[[nodiscard]] std::string to_text(const load_result& of, const std::optional<server_result>& server, const http_settings& asked);

}  // namespace load
