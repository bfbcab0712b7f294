#include <tartan/http_server/exchange.h>

#include <algorithm>
#include <tartan/core/on.h>
#include <tartan/http/query.h>
#include <utility>

#include "http_server/connection.h"
#include "http_server/exchange_state.h"

namespace tartan::http {

http::method exchange::method() const noexcept {
  return state_->head.method;
}
std::string_view exchange::method_text() const noexcept {
  return state_->head.method_text;
}
std::string_view exchange::path() const noexcept {
  return state_->where.path;
}
std::string_view exchange::query() const noexcept {
  const std::string_view query = state_->where.query;
  return query.substr(std::min<std::size_t>(1, query.size()));
}
std::string_view exchange::target() const noexcept {
  return state_->head.target;
}
std::string_view exchange::host() const noexcept {
  return state_->where.host.empty() ? state_->head.fields.only("Host") : state_->where.host;
}
const header_lines& exchange::fields() const noexcept {
  return state_->head.fields;
}

std::string_view exchange::parameter(std::string_view name) const noexcept {
  const auto& names = state_->route->names;
  const auto place = std::ranges::find(names, name);
  return place == names.end() ? std::string_view{} : state_->values[static_cast<std::size_t>(place - names.begin())];
}

std::optional<std::string> exchange::query_value(std::string_view name) const {
  return http::query_value(query(), name);
}

body_stream& exchange::body() noexcept {
  return state_->body;
}
const address& exchange::peer() const noexcept {
  return state_->on.peer();
}
any_stream& exchange::stream() noexcept {
  return state_->on.stream();
}
bool exchange::is_answered() const noexcept {
  return state_->is_answered;
}

task<result<>> exchange::send(reply whole) {
  co_await on(state_->on.where());
  co_return co_await state_->on.send(*state_, std::move(whole));
}

task<result<>> exchange::begin(reply head, std::optional<std::uint64_t> length) {
  co_await on(state_->on.where());
  co_return co_await state_->on.begin(*state_, std::move(head), length);
}

task<result<>> exchange::write(const_bytes piece) {
  co_await on(state_->on.where());
  buf::chain all;
  // The caller keeps the bytes until they have left, so they need no copy.
  if (piece.size() != 0) all.append(buf::slice::of_static({reinterpret_cast<const char*>(piece.data()), piece.size()}));
  co_return co_await state_->on.write(*state_, std::move(all));
}

task<result<>> exchange::write(buf::chain piece) {
  co_await on(state_->on.where());
  co_return co_await state_->on.write(*state_, std::move(piece));
}

task<result<>> exchange::end() {
  co_await on(state_->on.where());
  co_return co_await state_->on.end(*state_);
}

task<result<event_sink>> exchange::begin_events(reply head) {
  co_await on(state_->on.where());
  const result<> begun = co_await state_->on.begin_events(*state_, std::move(head));
  if (!begun) co_return begun.error();
  co_return event_sink{*state_};
}

task<result<>> event_sink::send(server_event_view e) {
  std::string text;
  append_event(text, e);
  buf::chain all;
  all.append(buf::slice{std::move(text)});
  co_await on(of_->on.where());
  co_return co_await of_->on.write(*of_, std::move(all));
}

task<result<>> event_sink::comment(std::string_view of) {
  std::string text;
  append_comment(text, of);
  buf::chain all;
  all.append(buf::slice{std::move(text)});
  co_await on(of_->on.where());
  co_return co_await of_->on.write(*of_, std::move(all));
}

std::string_view event_sink::last_id() const noexcept {
  return of_->head.fields.only("Last-Event-ID");
}

}  // namespace tartan::http
