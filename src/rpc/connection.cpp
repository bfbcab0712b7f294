#include <tartan/rpc/connection.h>

#include <tartan/core/on.h>
#include <tartan/core/post.h>
#include <utility>

#include "core/runtime_state.h"
#include "rpc/connection_state.h"

namespace tartan::rpc {

namespace detail {

namespace {

constexpr std::size_t most_argument_bytes = std::size_t{1} << 30;  // a record's mark has 31 bits

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

std::shared_ptr<prepared_call> new_call(call_options&& with) {
  auto made = std::make_shared<pending_call>();
  made->with = std::move(with);
  return made;
}

bool take_place(connection_owner& of, prepared_call& made) noexcept {
  auto& one = static_cast<pending_call&>(made);
  result<semaphore::permit> place = of.state()->places().try_acquire();
  one.has_place = place.has_value();
  if (place) one.place = *std::move(place);
  return one.has_place;
}

task<std::error_code> exchange(std::shared_ptr<connection_owner> over, std::shared_ptr<prepared_call> made) {
  if (over == nullptr) co_return make_error_code(errc::disconnected);
  if (made->error) co_return made->error;
  for (const opaque_auth* each : {&made->with.credentials, &made->with.verifier}) {
    if (each->body.size() > each->body.max) co_return xdr::make_error_code(xdr::errc::too_long);
  }
  if (made->arguments.size() > most_argument_bytes) co_return xdr::make_error_code(xdr::errc::too_long);
  connection_state& of = *over->state();
  const auto one = std::static_pointer_cast<pending_call>(std::move(made));
  if (!one->has_place && !take_place(*over, *one)) {
    tartan::result<semaphore::permit> place = co_await of.places().acquire();
    if (!place) co_return place.error();
    one->place = *std::move(place);
  }
  of.here([of = over->state(), one] { of->begin(one); });
  const bool is_answered = co_await one->ended();
  if (!is_answered) {
    of.here([of = over->state(), one] { of->forget(one); });
    co_return make_error_code(tartan::errc::canceled);
  }
  const call_options& with = one->with;
  if (with.why != nullptr) *with.why = one->why;
  if (with.returned != nullptr) *with.returned = std::move(one->returned);
  if (with.reply_verifier != nullptr) *with.reply_verifier = std::move(one->reply_verifier);
  co_return one->end_reason();
}

}  // namespace detail

namespace {

task<tartan::result<buf::chain>> exchange_raw(std::shared_ptr<detail::connection_owner> over,
                                              std::shared_ptr<detail::prepared_call> made) {
  const std::error_code failed = co_await detail::exchange(std::move(over), made);
  if (failed) co_return failed;
  co_return std::move(made->result);
}

}  // namespace

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
  auto made = detail::new_call(std::move(with));
  made->program = program;
  made->version = version;
  made->procedure = procedure;
  made->arguments = std::move(arguments);
  return exchange_raw(owner_, std::move(made));
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
  if (owner_ == nullptr) {
    post([f = std::move(f)] { f(errc::disconnected); });
    return;
  }
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

connection connection_of(const call_info& of) {
  return connection{of.over.lock()};
}

void detail::when_gone(const connection& of, std::function<void()> f) {
  const std::shared_ptr<connection_state>& state = of.owner_->state();
  state->here([state, f = std::move(f)]() mutable { state->when_gone(std::move(f)); });
}

color connection::where() const noexcept {
  return owner_ != nullptr ? owner_->state()->where() : color{};
}

}  // namespace tartan::rpc
