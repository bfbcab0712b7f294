#include <tartan/rpc/connection.h>

#include <tartan/core/on.h>
#include <tartan/core/post.h>
#include <utility>

#include "core/runtime_state.h"
#include "rpc/connection_state.h"

namespace tartan::rpc {

namespace detail {

namespace {

std::shared_ptr<connection_owner> open(std::unique_ptr<transport> over, settings&& with,
                                       std::shared_ptr<const programs> serves, std::source_location site) {
  tartan::detail::runtime_state& rt = tartan::detail::required_runtime("rpc::connection", site);
  auto state = std::make_shared<connection_state>(rt, std::move(over), std::move(with), std::move(serves));
  auto made = std::make_shared<connection_owner>(std::move(state));
  made->state()->start(made);
  return made;
}

}  // namespace

const settings& settings_of(const connection_owner& of) noexcept {
  return of.state()->with;
}

bool take_place(connection_owner& of, prepared_call& made) noexcept {
  result<semaphore::permit> place = of.state()->places().try_acquire();
  made.has_place = place.has_value();
  if (place) made.place = *std::move(place);
  return made.has_place;
}

task<tartan::result<buf::chain>> exchange(std::shared_ptr<connection_owner> over, prepared_call made) {
  if (over == nullptr) co_return make_error_code(errc::disconnected);
  if (made.error) co_return made.error;
  connection_state& of = *over->state();
  if (!made.has_place) {
    tartan::result<semaphore::permit> place = co_await of.places().acquire();
    if (!place) co_return place.error();
    made.place = *std::move(place);
  }
  const auto one = std::make_shared<pending_call>(made.with.to);
  one->place = std::move(made.place);
  refusal* const why = made.with.why;
  descriptors* const returned = made.with.returned;
  opaque_auth* const verifier = made.with.reply_verifier;
  of.here([of = over->state(), one, made = std::move(made)]() mutable { of->begin(one, std::move(made)); });
  const bool is_answered = co_await one->ended();
  if (!is_answered) {
    of.here([of = over->state(), one] { of->forget(one); });
    co_return tartan::errc::canceled;
  }
  call_outcome& came = one->outcome();
  if (why != nullptr) *why = came.why;
  if (returned != nullptr) *returned = std::move(came.passed);
  if (verifier != nullptr) *verifier = std::move(came.verifier);
  if (came.error) co_return came.error;
  co_return std::move(came.result);
}

}  // namespace detail

connection::connection(any_stream over, settings with, std::shared_ptr<const programs> serves,
                       std::source_location site) {
  auto made = detail::over_stream(std::move(over), with);
  owner_ = detail::open(std::move(made), std::move(with), std::move(serves), site);
}

connection::connection(udp::socket over, settings with, std::shared_ptr<const programs> serves,
                       std::source_location site) {
  auto made = detail::over_datagrams(std::move(over), with);
  owner_ = detail::open(std::move(made), std::move(with), std::move(serves), site);
}

task<tartan::result<buf::chain>> connection::call_raw(std::uint32_t program, std::uint32_t version,
                                                      std::uint32_t procedure, buf::chain arguments,
                                                      call_options with) const {
  return detail::exchange(owner_, {.error = {},
                                   .program = program,
                                   .version = version,
                                   .procedure = procedure,
                                   .arguments = std::move(arguments),
                                   .with = std::move(with),
                                   .place = {},
                                   .has_place = false});
}

namespace {

task<std::error_code> end_of(std::shared_ptr<detail::connection_owner> of) {
  if (of == nullptr) co_return make_error_code(errc::disconnected);
  const bool has_ended = co_await of->state()->ended();
  if (!has_ended) co_return tartan::errc::canceled;
  co_return of->state()->end_reason();
}

task<tartan::result<>> replace_in(std::shared_ptr<detail::connection_owner> of, stream_upgrade how) {
  if (of == nullptr) co_return make_error_code(errc::disconnected);
  co_return co_await detail::connection_state::replace(of->state(), std::move(how));
}

}  // namespace

task<std::error_code> connection::ended() const {
  return end_of(owner_);
}

void connection::on_end(std::function<void(std::error_code)> f) const {
  const std::shared_ptr<detail::connection_state>& of = owner_->state();
  of->here([of, f = std::move(f)]() mutable { of->end_handler(std::move(f)); });
}

task<tartan::result<>> connection::replace_stream(stream_upgrade how) const {
  return replace_in(owner_, std::move(how));
}

void connection::close() const {
  if (owner_ == nullptr) return;
  const std::shared_ptr<detail::connection_state>& of = owner_->state();
  of->here([of] { of->close(tartan::errc::closed); });
}

void connection::drain() const {
  if (owner_ == nullptr) return;
  const std::shared_ptr<detail::connection_state>& of = owner_->state();
  of->here([of] { of->drain(); });
}

color connection::where() const noexcept {
  return owner_ != nullptr ? owner_->state()->where() : color{};
}

}  // namespace tartan::rpc
