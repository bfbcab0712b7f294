#pragma once
/// Names of hosts as text.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <tartan/io/address.h>
#include <vector>

namespace tartan::detail {

inline constexpr std::size_t most_name_bytes = 253;
inline constexpr std::size_t most_label_bytes = 63;

/// Whether name servers are asked for this name, and whether it is accepted from an answer. Without a trailing dot.
[[nodiscard]] bool is_host_name(std::string_view name) noexcept;

[[nodiscard]] bool same_name(std::string_view a, std::string_view b) noexcept;
[[nodiscard]] std::string lower_case(std::string_view name);
/// Whether it is that domain, or in it.
[[nodiscard]] bool is_within(std::string_view name, std::string_view domain) noexcept;

/// The address that a text of digits or with colons is; port 0.
[[nodiscard]] std::optional<address> numeric_host(std::string_view host) noexcept;
/// Whether only an address looks so: then it is one or nothing.
[[nodiscard]] bool looks_numeric(std::string_view host) noexcept;

/// What to ask for, in this order, for a name as the user has written it. Empty if none is a name of a host.
[[nodiscard]] std::vector<std::string> search_candidates(std::string_view name, const std::vector<std::string>& search,
                                                         unsigned dots);

/// 192.0.2.1 for [::ffff:192.0.2.1], as a listener of both families names its peers; any other address as it is.
[[nodiscard]] address without_mapping(const address& of);

/// "4.3.2.1.in-addr.arpa"; empty if it is no IP address.
[[nodiscard]] std::string reverse_name(const address& of);

}  // namespace tartan::detail
