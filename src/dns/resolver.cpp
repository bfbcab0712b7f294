#include <tartan/dns/resolver.h>

#include <algorithm>
#include <tartan/core/on.h>
#include <utility>

#include "core/runtime_state.h"
#include "dns/resolver_state.h"

namespace tartan::dns {

namespace {

using detail::record;
using detail::record_type;
using detail::resolver_state;
using std::chrono::seconds;
using shared_state = std::shared_ptr<resolver_state>;

constexpr const char* strand_name = "dns resolver";

task<result<std::vector<host_address>>> find_addresses(shared_state state, std::string host, address_family family) {
  co_await on(state->where());
  const auto place = state->enter();
  if (!place) co_return place.error();
  co_return co_await state->find_addresses(host, family, nullptr);
}

/// Records as what the user gets, in order.
template <class T, class Made, class Before>
task<result<std::vector<T>>> find(shared_state state, std::string name, record_type type, Made made, Before before) {
  co_await on(state->where());
  const auto place = state->enter();
  if (!place) co_return place.error();
  auto records = co_await state->find_records(name, type);
  if (!records) co_return records.error();
  std::vector<T> all;
  for (record& r : *records) {
    T one = made(r);
    const auto at = std::ranges::upper_bound(all, one, before);  // equal ones stay in the server's order
    all.insert(at, std::move(one));
  }
  co_return all;
}

task<result<std::vector<host_name>>> find_names(shared_state state, address of) {
  co_await on(state->where());
  const auto place = state->enter();
  if (!place) co_return place.error();
  co_return co_await state->find_names(of);
}

}  // namespace

resolver::resolver(runtime& rt, resolver_options with)
    : state_{std::make_shared<resolver_state>(rt.state(), strand{rt, strand_name}, std::move(with))} {}

resolver::resolver(resolver_options with, std::source_location site)
    : state_{std::make_shared<resolver_state>(tartan::detail::required_runtime("dns::resolver", site),
                                              strand{strand_name, site}, std::move(with))} {}

resolver& resolver::operator=(resolver&& other) noexcept {
  if (this != &other) {
    abandon();
    state_ = std::move(other.state_);
  }
  return *this;
}

resolver::~resolver() {
  abandon();
}

/// Each look-up holds the state. If this is the only holder, nothing is under way and no event is needed.
void resolver::abandon() noexcept {
  if (state_ != nullptr && state_.use_count() != 1) close();
}

void resolver::close() noexcept {
  if (state_ == nullptr) return;
  try {
    static_cast<void>(state_->post_close(state_));
  } catch (...) {  // no memory: what is under way ends by itself
  }
}

task<result<std::vector<host_address>>> resolver::addresses(std::string host, address_family family) const {
  return find_addresses(state_, std::move(host), family);
}

task<result<std::vector<mail_exchanger>>> resolver::mail_exchangers(std::string domain) const {
  constexpr auto made = [](record& r) {
    return mail_exchanger{r.numbers[0], std::move(r.data), seconds{r.time_to_live}};
  };
  constexpr auto before = [](const mail_exchanger& a, const mail_exchanger& b) { return a.preference < b.preference; };
  return find<mail_exchanger>(state_, std::move(domain), record_type::mx, made, before);
}

task<result<std::vector<service>>> resolver::services(std::string name) const {
  constexpr auto made = [](record& r) {
    return service{r.numbers[0], r.numbers[1], r.numbers[2], std::move(r.data), seconds{r.time_to_live}};
  };
  constexpr auto before = [](const service& a, const service& b) { return a.priority < b.priority; };
  return find<service>(state_, std::move(name), record_type::srv, made, before);
}

task<result<std::vector<text>>> resolver::texts(std::string name) const {
  constexpr auto made = [](record& r) { return text{std::move(r.data), seconds{r.time_to_live}}; };
  constexpr auto before = [](const text&, const text&) { return false; };
  return find<text>(state_, std::move(name), record_type::txt, made, before);
}

task<result<std::vector<host_name>>> resolver::names(address of) const {
  return find_names(state_, of);
}

}  // namespace tartan::dns
