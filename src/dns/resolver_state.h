#pragma once
/// What a resolver and the look-ups that are under way share.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <tartan/core/color.h>
#include <tartan/core/result.h>
#include <tartan/core/semaphore.h>
#include <tartan/core/strand.h>
#include <tartan/core/task.h>
#include <tartan/dns/resolver.h>
#include <utility>
#include <vector>

#include "dns/configuration.h"
#include "dns/message.h"

namespace tartan::detail {

class exchange;
class runtime_state;

using host_addresses = std::vector<dns::host_address>;

/// The addresses of one family for one candidate of the search list, before all are known.
struct early_addresses {
  bool is_ipv6 = false;
  host_addresses found;
};

/// Gets each family's addresses as they arrive; an empty list means that the family has none.
class address_sink {
 public:
  /// Color: the resolver's. An error ends the look-up.
  [[nodiscard]] virtual task<result<>> hear(early_addresses some) = 0;

 protected:
  ~address_sink() = default;
};

/// All of a resolver.
///
/// Color: that of its strand, unless a member says otherwise.
/// Lifetime: shared by the resolver and each look-up.
class resolver_state {
 public:
  /// Errors: std::invalid_argument, std::bad_alloc. Threads: any.
  resolver_state(runtime_state& rt, strand own, dns::resolver_options with);

  /// Threads: any.
  [[nodiscard]] color where() const noexcept { return strand_.value(); }
  bool post_close(const std::shared_ptr<resolver_state>& self);

  void close() noexcept;

  /// One look-up under way. Gives its place back when it is destroyed.
  class place {
   public:
    explicit place(resolver_state& in) noexcept : in_{&in} {}
    place(place&& other) noexcept : in_{std::exchange(other.in_, nullptr)} {}
    place& operator=(place&&) = delete;
    ~place() {
      if (in_ != nullptr) --in_->in_flight_;
    }

   private:
    resolver_state* in_;
  };
  /// Errors: errc::busy, errc::closed.
  [[nodiscard]] result<place> enter() noexcept;

  // Look-ups. Their arguments must live until they have ended.

  /// `early` may be null.
  [[nodiscard]] task<result<host_addresses>> find_addresses(const std::string& host, dns::address_family family,
                                                            address_sink* early);
  /// The records of one type, by the search list.
  [[nodiscard]] task<result<std::vector<record>>> find_records(const std::string& name, record_type type);
  [[nodiscard]] task<result<std::vector<dns::host_name>>> find_names(const address& peer);

 private:
  friend class exchange_in_list;
  using settings = std::shared_ptr<const configuration>;
  struct servers_to_ask;

  [[nodiscard]] task<result<settings>> current();
  [[nodiscard]] servers_to_ask servers_of(const configuration& now) const;
  [[nodiscard]] std::vector<std::string> candidates(const std::string& name, const configuration& now) const;

  /// Asks servers until one knows.
  [[nodiscard]] task<result<std::vector<record>>> ask(const question& q, const configuration& now);
  [[nodiscard]] task<result<answer>> ask_server(const question& q, const address& server,
                                                std::chrono::milliseconds limit);
  [[nodiscard]] task<result<host_addresses>> ask_addresses(const std::string& name, dns::address_family family,
                                                           const configuration& now, address_sink* early);
  [[nodiscard]] task<result<host_addresses>> ask_family(const std::string& name, bool is_ipv6, const configuration& now,
                                                        address_sink* early);

  runtime_state& rt_;
  strand strand_;
  const dns::resolver_options with_;
  settings settings_;
  std::uint64_t asked_files_ns_ = 0;  ///< when files were last asked whether they have changed
  semaphore loading_{1};
  std::vector<exchange*> exchanges_;
  std::size_t in_flight_ = 0;
  bool is_closed_ = false;
};

/// Library code that stands on a resolver.
struct resolver_access {
  [[nodiscard]] static const std::shared_ptr<resolver_state>& state(const dns::resolver& of) noexcept {
    return of.state_;
  }
};

}  // namespace tartan::detail
